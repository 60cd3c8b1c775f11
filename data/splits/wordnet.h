// The nouns of WordNet, and splits of classes that are synsets by how near they are to each other.
//
// A class is named by its WordNet id, "n02084071": "n" and the eight digits that its line in data.noun begins with. A
// synset is below all synsets that a chain of hypernym pointers ("@", and "@i" of instances) leads to. Ids are those of
// WordNet 3.0, which ImageNet's are.
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
  // Reads the content of data.noun (wndb(5WN)); lines that begin with a blank are its licence. `file` is used in errors
  // only. Errors: kInvalidArgument "FILE:LINE: problem".
  static absl::StatusOr<WordNet> Parse(absl::string_view text, const std::string& file);

  // "n02084071" is there. Errors: kNotFound.
  absl::Status Check(const std::string& id) const;

  // Below, `id` is one of the database's.
  std::vector<std::string> Hypernyms(const std::string& id) const;
  std::vector<std::string> Hyponyms(const std::string& id) const;
  // All synsets above; not itself.
  std::set<std::string> Ancestors(const std::string& id) const;
  // Its first word, with blanks.
  std::string Name(const std::string& id) const;
  // The synsets of which a name has these words side by side: "knife" is in "paper knife". In any case, with blanks,
  // underscores or hyphens between the words; sorted, each once.
  std::vector<std::string> WithWords(absl::string_view words) const;

 private:
  struct Synset {
    std::string name;
    std::vector<std::string> hypernym;
    std::vector<std::string> hyponym;
  };
  std::unordered_map<std::string, Synset> synsets_;
  std::multimap<std::string, std::string> of_words_;  // each run of words of a name, lower case, with blanks -> id
};

// Those of `classes` that are not known and are below a direct hypernym of a known class, in their order: the
// candidates for near unknown classes. The others that are not known may be external ones. Precondition, here and
// below: all are in the database.
std::vector<std::string> NearCandidates(const WordNet& wordnet, const std::vector<std::string>& known,
                                        const std::vector<std::string>& classes);

// Those of `classes` that are one of `synsets` or below one, in their order, with the first such of `synsets`: classes
// of an external set that overlap known ones.
struct Overlap {
  std::string id;
  std::string above;
};
std::vector<Overlap> Overlapping(const WordNet& wordnet, const std::vector<std::string>& synsets,
                                 const std::vector<std::string>& classes);

// Which classes of other data sets are far from `classes`. A class is not far where a synset of which a name has one of
// its keywords among its words (WithWords) (i) is one of `classes`, (ii) has a sibling that is one, (iii) is above or
// below one. Keywords are the class's name, the name without blanks, each of its words but "and", "of" and "the", each
// also without and with the ending of a plural, and `extra` (other spellings, found by hand).
//
// Far from the 1,000 classes of ImageNet are 31 of Food-101's classes, 41 of Caltech-256's, 77 of Places365's. The
// paper has 32, 45 and 82, with spellings that it does not list. Its words are "a node including knife in its name";
// were a keyword to be the whole name, 40, 58 and 148 would be far.
class FarRule {
 public:
  // `wordnet` must outlive it.
  FarRule(const WordNet& wordnet, const std::vector<std::string>& classes);

  // "steak (n07658123) is above one of them"; empty if the class is far.
  std::string WhyNotFar(absl::string_view class_name, const std::vector<std::string>& extra) const;

 private:
  const WordNet& wordnet_;
  const std::set<std::string> classes_;
  std::set<std::string> above_;  // some class
};

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_WORDNET_H_
