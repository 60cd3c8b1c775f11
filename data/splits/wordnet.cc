#include "data/splits/wordnet.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Returns a word in lower case, with blanks between its parts.
std::string Spoken(absl::string_view word) {
  return absl::AsciiStrToLower(absl::StrReplaceAll(word, {{"_", " "}, {"-", " "}}));
}

// One line of data.noun: "OFFSET FILE TYPE WORDS (2, hexadecimal) [WORD LEX_ID]... POINTERS (3, decimal) [SYMBOL OFFSET
// POS SOURCE_TARGET]... | gloss".
struct Line {
  std::string id;
  std::vector<std::string> words;
  std::vector<std::string> hypernyms;
};

std::optional<Line> ParseLine(absl::string_view text) {
  const std::vector<absl::string_view> fields = absl::StrSplit(text.substr(0, text.find('|')), ' ', absl::SkipEmpty());
  size_t at = 0;
  const auto next = [&]() { return at < fields.size() ? fields[at++] : absl::string_view(); };
  const auto id_of = [](absl::string_view offset) {
    const bool digits = offset.size() == 8 && std::all_of(offset.begin(), offset.end(), absl::ascii_isdigit);
    return digits ? absl::StrCat("n", offset) : "";
  };
  Line line;
  line.id = id_of(next());
  next();
  if (line.id.empty() || next() != "n") return std::nullopt;
  int words = 0, pointers = 0;
  if (!absl::SimpleHexAtoi(next(), &words) || words < 1) return std::nullopt;
  for (int w = 0; w < words; ++w) {
    line.words.emplace_back(next());
    next();
  }
  if (!absl::SimpleAtoi(next(), &pointers) || pointers < 0) return std::nullopt;
  for (int p = 0; p < pointers; ++p) {
    const absl::string_view symbol = next(), offset = next(), part_of_speech = next(), source_target = next();
    if (source_target.empty()) return std::nullopt;
    if ((symbol != "@" && symbol != "@i") || part_of_speech != "n") continue;
    line.hypernyms.push_back(id_of(offset));
    if (line.hypernyms.back().empty()) return std::nullopt;
  }
  return line;
}

// Returns all runs of a name's words. "paper knife": "paper", "paper knife", "knife".
std::vector<std::string> Runs(const std::string& name) {
  const std::vector<std::string> words = absl::StrSplit(name, ' ');
  std::vector<std::string> runs;
  for (size_t begin = 0; begin < words.size(); ++begin) {
    std::string run;
    for (size_t last = begin; last < words.size(); ++last) {
      absl::StrAppend(&run, last > begin ? " " : "", words[last]);
      runs.push_back(run);
    }
  }
  return runs;
}

// Returns the word itself, and the word without and with a plural ending.
std::set<std::string> Forms(const std::string& word) {
  std::set<std::string> forms = {word, word + "s"};
  const absl::string_view view = word;
  if (absl::EndsWith(view, "s")) forms.emplace(absl::StripSuffix(view, "s"));
  if (absl::EndsWith(view, "es")) forms.emplace(absl::StripSuffix(view, "es"));
  if (absl::EndsWith(view, "ies")) forms.insert(absl::StrCat(absl::StripSuffix(view, "ies"), "y"));
  return forms;
}

std::set<std::string> Keywords(absl::string_view class_name, const std::vector<std::string>& extra) {
  std::vector<std::string> words;
  for (const absl::string_view word : absl::StrSplit(Spoken(class_name), absl::ByAnyChar(" /"), absl::SkipEmpty())) {
    if (word != "and" && word != "of" && word != "the") words.emplace_back(word);
  }
  std::set<std::string> keywords;
  const auto add = [&](const std::string& word) {
    const std::set<std::string> forms = Forms(word);
    keywords.insert(forms.begin(), forms.end());
  };
  for (const std::string& word : words) add(word);
  add(absl::StrJoin(words, " "));
  add(absl::StrJoin(words, ""));
  for (const std::string& word : extra) add(Spoken(word));
  keywords.erase("");
  return keywords;
}

bool AnyIn(const std::set<std::string>& of, const std::set<std::string>& in) {
  return std::any_of(of.begin(), of.end(), [&](const std::string& id) { return in.count(id) > 0; });
}

}  // namespace

absl::StatusOr<WordNet> WordNet::Parse(absl::string_view text, const std::string& file) {
  WordNet wordnet;
  std::vector<std::pair<std::string, int>> order;  // for the children's order, and errors
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == ' ') continue;
    const std::optional<Line> parsed = ParseLine(line);
    if (!parsed.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", number, ": is not a line of WordNet's data.noun: ", line.substr(0, 60)));
    }
    Synset& synset = wordnet.synsets_[parsed->id];
    if (!synset.name.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ":", number, ": ", parsed->id, " is listed twice"));
    }
    synset.name = absl::StrReplaceAll(parsed->words[0], {{"_", " "}});
    synset.hypernym = parsed->hypernyms;
    order.emplace_back(parsed->id, number);
    for (const std::string& name : parsed->words) {
      for (const std::string& run : Runs(Spoken(name))) wordnet.of_words_.emplace(run, parsed->id);
    }
  }
  if (order.empty()) return absl::InvalidArgumentError(absl::StrCat(file, ": has no synset"));
  for (const auto& [id, line] : order) {
    for (const std::string& above : wordnet.synsets_[id].hypernym) {
      const auto found = wordnet.synsets_.find(above);
      if (found == wordnet.synsets_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat(file, ":", line, ": ", id, " has the hypernym ", above, ", which does not exist"));
      }
      found->second.hyponym.push_back(id);
    }
  }
  return wordnet;
}

absl::Status WordNet::Check(const std::string& id) const {
  if (synsets_.count(id) > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("'", id, "' is not a noun of this WordNet; ids look like n02084071"));
}

std::vector<std::string> WordNet::Hypernyms(const std::string& id) const { return synsets_.at(id).hypernym; }

std::vector<std::string> WordNet::Hyponyms(const std::string& id) const { return synsets_.at(id).hyponym; }

std::set<std::string> WordNet::Ancestors(const std::string& id) const {
  std::set<std::string> above;
  std::vector<std::string> left = {id};
  while (!left.empty()) {
    const std::string next = std::move(left.back());
    left.pop_back();
    for (const std::string& hypernym : synsets_.at(next).hypernym) {
      if (above.insert(hypernym).second) left.push_back(hypernym);
    }
  }
  return above;
}

std::string WordNet::Name(const std::string& id) const { return synsets_.at(id).name; }

std::vector<std::string> WordNet::WithWords(absl::string_view words) const {
  const auto [begin, end] = of_words_.equal_range(Spoken(words));
  std::set<std::string> ids;
  for (auto entry = begin; entry != end; ++entry) ids.insert(entry->second);
  return {ids.begin(), ids.end()};
}

std::vector<std::string> NearCandidates(const WordNet& wordnet, const std::vector<std::string>& known,
                                        const std::vector<std::string>& classes) {
  std::set<std::string> parents;
  for (const std::string& id : known) {
    for (const std::string& hypernym : wordnet.Hypernyms(id)) parents.insert(hypernym);
  }
  const std::set<std::string> known_set(known.begin(), known.end());
  std::vector<std::string> near;
  for (const std::string& id : classes) {
    if (known_set.count(id) == 0 && AnyIn(wordnet.Ancestors(id), parents)) near.push_back(id);
  }
  return near;
}

std::vector<Overlap> Overlapping(const WordNet& wordnet, const std::vector<std::string>& synsets,
                                 const std::vector<std::string>& classes) {
  std::vector<Overlap> overlapping;
  for (const std::string& id : classes) {
    std::set<std::string> self_and_above = wordnet.Ancestors(id);
    self_and_above.insert(id);
    const auto found =
        std::find_if(synsets.begin(), synsets.end(), [&](const auto& s) { return self_and_above.count(s) > 0; });
    if (found != synsets.end()) overlapping.push_back({id, *found});
  }
  return overlapping;
}

FarRule::FarRule(const WordNet& wordnet, const std::vector<std::string>& classes)
    : wordnet_(wordnet), classes_(classes.begin(), classes.end()) {
  for (const std::string& id : classes_) {
    const std::set<std::string> ancestors = wordnet.Ancestors(id);
    above_.insert(ancestors.begin(), ancestors.end());
  }
}

std::string FarRule::WhyNotFar(absl::string_view class_name, const std::vector<std::string>& extra) const {
  for (const std::string& keyword : Keywords(class_name, extra)) {
    for (const std::string& id : wordnet_.WithWords(keyword)) {
      const std::string name = wordnet_.Name(id);
      const std::string synset = absl::StrCat(keyword, " (", Spoken(name) == keyword ? "" : name + ", ", id, ")");
      if (classes_.count(id) > 0) return synset + " is one of them";
      if (above_.count(id) > 0) return synset + " is above one of them";
      if (AnyIn(wordnet_.Ancestors(id), classes_)) return synset + " is below one of them";
      for (const std::string& parent : wordnet_.Hypernyms(id)) {
        const std::vector<std::string> siblings = wordnet_.Hyponyms(parent);
        if (AnyIn({siblings.begin(), siblings.end()}, classes_)) return synset + " has a sibling among them";
      }
    }
  }
  return "";
}

}  // namespace openset
