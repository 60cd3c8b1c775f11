// The nouns of WordNet, and splits of classes that are synsets by their distance from each other.
//
// A class is named by its WordNet id, "n02084071": "n" and the eight digits at the beginning of its line in data.noun.
// A synset is below all synsets that a chain of hypernym pointers ("@", and "@i" for instances) leads to. Ids are those
// of WordNet 3.0, as ImageNet's are.
//
// Source of the rules: Kim et al. 2023 (unified benchmark), sections 3.1 and 3.2.
#ifndef OPENSET_DATA_SPLITS_WORDNET_H_
#define OPENSET_DATA_SPLITS_WORDNET_H_

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

class WordNet {
 public:
  // Parses the content of data.noun (wndb(5WN)), whose lines that begin with a blank are its licence. `file` is used in
  // errors only. Errors: kInvalidArgument "FILE:LINE: problem".
  static absl::StatusOr<WordNet> Parse(absl::string_view text, const std::string& file);

  // Checks that an id exists. Errors: kNotFound.
  absl::Status Check(const std::string& id) const;

  // Precondition of the functions below: `id` exists.
  std::vector<std::string> Hypernyms(const std::string& id) const;
  std::vector<std::string> Hyponyms(const std::string& id) const;
  // Returns all synsets above `id`, without `id`.
  std::set<std::string> Ancestors(const std::string& id) const;
  // Returns the first name of a synset, with blanks between its words.
  std::string Name(const std::string& id) const;
  // Returns the synsets with a name that contains these words side by side: "knife" is in "paper knife". Ignores case
  // and whether words are separated by blanks, underscores or hyphens. Sorted, without repetition.
  std::vector<std::string> WithWords(absl::string_view words) const;

 private:
  struct Synset {
    std::string name;
    std::vector<std::string> hypernym;
    std::vector<std::string> hyponym;
  };
  std::unordered_map<std::string, Synset> synsets_;
  std::multimap<std::string, std::string> of_words_;  // each run of a name's words, lower case, with blanks -> id
};

// Returns those of `classes` that are not known and are below a direct hypernym of a known class, in their order: the
// candidates for near unknown classes. The other classes that are not known may be used as external ones. Precondition,
// here and below: all ids are in the database.
std::vector<std::string> NearCandidates(const WordNet& wordnet, const std::vector<std::string>& known,
                                        const std::vector<std::string>& classes);

// Returns those of `classes` that are equal to or below one of `synsets`, in their order, with the first such synset:
// the classes of an external set that overlap known ones.
struct Overlap {
  std::string id;
  std::string above;
};
std::vector<Overlap> Overlapping(const WordNet& wordnet, const std::vector<std::string>& synsets,
                                 const std::vector<std::string>& classes);

// Decides which classes of other data sets are far from `classes`. A class is not far if a synset with a name that
// contains one of the class's keywords (WithWords()) (i) is one of `classes`, (ii) has a sibling that is one, or (iii)
// is above or below one. The keywords of a class are its name, the name without blanks, each of its words except "and",
// "of" and "the", each also without and with a plural ending, and `extra` (other spellings, found by hand).
//
// Far from the 1,000 classes of ImageNet are 31 of Food-101's classes, 41 of Caltech-256's and 77 of Places365's. The
// paper has 32, 45 and 82, with spellings that it does not list. It describes the match as "a node including knife in
// its name"; if a keyword had to be the complete name, 40, 58 and 148 would be far.
class FarRule {
 public:
  // `wordnet` must outlive it.
  FarRule(const WordNet& wordnet, const std::vector<std::string>& classes);

  // Returns why a class is not far ("steak (n07658123) is above one of them"), or "" if it is far.
  std::string WhyNotFar(absl::string_view class_name, const std::vector<std::string>& extra) const;

 private:
  const WordNet& wordnet_;
  const std::set<std::string> classes_;
  std::set<std::string> above_;  // all synsets above a class
};

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_WORDNET_H_
