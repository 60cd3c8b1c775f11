#include "tools/cli/task/task_rules.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/splits/attribute_splits.h"
#include "data/splits/wordnet.h"
#include "tools/cli/flags/library_flags.h"
#include "tools/cli/task/task_new.h"

ABSL_DECLARE_FLAG(std::vector<std::string>, known);
ABSL_DECLARE_FLAG(std::vector<std::string>, near);
ABSL_DECLARE_FLAG(std::vector<std::string>, far);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_FLAG(std::string, matrix, "",
          "A text file of attributes, with one line of numbers for each class, in the order of the ids.");
ABSL_FLAG(std::string, levels, "",
          "How many unknown classes are hard, medium, easy: \"34,34,32\"; or the number of levels: 3.");
ABSL_FLAG(std::string, wordnet, "", "WordNet's file of nouns, data.noun (Debian's package wordnet-base has it).");
ABSL_FLAG(std::vector<std::string>, wnids, {},
          "WordNet ids of all classes (n01440764 ...), in the order of the class ids.");
ABSL_FLAG(std::vector<std::string>, overlap, {},
          "WordNet ids: find the classes that are one of these or below one of them.");
ABSL_FLAG(std::vector<std::string>, variants, {},
          "Other spellings, one \"NAME: SPELLING, SPELLING\" on each line, as @FILE.");

namespace openset {
namespace {

absl::StatusOr<std::string> ReadFlagFile(absl::string_view flag, const std::string& path) {
  if (path.empty()) return FlagError(flag, "must name a file");
  absl::StatusOr<std::string> content = ReadGivenFile(UserPath(path));
  if (!content.ok()) return Annotate(content.status(), absl::StrCat("--", flag));
  return content;
}

std::string Ids(const std::vector<int>& ids) { return absl::StrCat("[", absl::StrJoin(ids, ", "), "]"); }

// "34,34,32", or a number of levels for `classes` classes.
absl::StatusOr<std::vector<int>> LevelSizes(int classes) {
  const std::string text = absl::GetFlag(FLAGS_levels);
  std::vector<int> sizes;
  int sum = 0;
  for (const absl::string_view part : absl::StrSplit(text.empty() ? "3" : text, ',')) {
    if (!absl::SimpleAtoi(part, &sizes.emplace_back()) || sizes.back() < 1) {
      return FlagError("levels", absl::StrCat("'", part, "' is not a number of classes"));
    }
    sum += sizes.back();
  }
  if (sizes.size() == 1) return EqualLevels(classes, sizes[0]);
  if (sum == classes) return sizes;
  return FlagError("levels", absl::StrCat("sum to ", sum, " classes, but ", classes, " are unknown"));
}

std::string LevelName(size_t level, size_t levels) {
  static constexpr const char* kThree[] = {"hard", "medium", "easy"};
  if (levels == 3) return kThree[level];
  return levels == 2 ? kThree[2 * level] : absl::StrCat("level_", level);
}

absl::StatusOr<std::vector<std::string>> ReadSynsets(absl::string_view flag, const std::vector<std::string>& list,
                                                     const WordNet& wordnet) {
  OPENSET_ASSIGN_OR_RETURN(std::vector<std::string> ids, ReadList(flag, list));
  for (const std::string& id : ids) {
    if (const absl::Status known = wordnet.Check(id); !known.ok()) return FlagError(flag, known.message());
  }
  return ids;
}

// The indices of `ids` in `classes`.
std::vector<int> PlacesOf(const std::vector<std::string>& ids, const std::vector<std::string>& classes) {
  std::vector<int> places;
  for (const std::string& id : ids) {
    places.push_back(static_cast<int>(std::find(classes.begin(), classes.end(), id) - classes.begin()));
  }
  std::sort(places.begin(), places.end());
  return places;
}

absl::Status PrintNear(const WordNet& wordnet, const std::vector<std::string>& classes) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> known,
                           ReadSynsets("known", absl::GetFlag(FLAGS_known), wordnet));
  const std::set<std::string> all(classes.begin(), classes.end());
  for (const std::string& id : known) {
    if (all.count(id) == 0) return FlagError("known", absl::StrCat(id, " is not in --wnids"));
  }
  const std::vector<std::string> candidates = NearCandidates(wordnet, known, classes);
  std::vector<std::string> near = candidates;
  const std::vector<std::string> number = absl::GetFlag(FLAGS_near);
  const int wanted = NumberOf(number).value_or(number.empty() ? 0 : -1);
  if (wanted < 0) return FlagError("near", "must be the number of candidates to draw");
  if (wanted > static_cast<int>(candidates.size())) {
    return FlagError("near", absl::StrCat(wanted, " are more than the ", candidates.size(), " candidates"));
  }
  if (wanted > 0) {
    const uint64_t seed = absl::GetFlag(FLAGS_seed);
    const std::vector<int64_t> order = RandomStream(seed, "wordnet/near").Permutation(candidates.size());
    near.clear();
    for (int i = 0; i < wanted; ++i) near.push_back(candidates[order[i]]);
  }
  std::set<std::string> taken(known.begin(), known.end());
  taken.insert(candidates.begin(), candidates.end());
  std::vector<std::string> external;
  for (const std::string& id : classes) {
    if (taken.count(id) == 0) external.push_back(id);
  }
  std::cout << "# " << known.size() << " known, " << candidates.size() << " near candidates";
  if (wanted > 0) std::cout << ", of them " << wanted << " drawn by seed " << absl::GetFlag(FLAGS_seed);
  std::cout << ", " << external.size() << " external\n# split { known: ... }\n"
            << Ids(PlacesOf(known, classes)) << "\n# unknown { class_id: ... distance: NEAR }\n"
            << Ids(PlacesOf(near, classes)) << "\n# external { class_id: ... }\n"
            << Ids(PlacesOf(external, classes)) << "\n";
  return absl::OkStatus();
}

absl::Status PrintOverlap(const WordNet& wordnet, const std::vector<std::string>& classes) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> synsets,
                           ReadSynsets("overlap", absl::GetFlag(FLAGS_overlap), wordnet));
  std::set<std::string> overlapping;
  for (const Overlap& found : Overlapping(wordnet, synsets, classes)) {
    std::cout << "# " << found.id << " " << wordnet.Name(found.id) << " is "
              << (found.id == found.above ? "one of them"
                                          : absl::StrCat("below ", found.above, " ", wordnet.Name(found.above)))
              << "\n";
    overlapping.insert(found.id);
  }
  std::vector<std::string> others;
  for (const std::string& id : classes) {
    if (overlapping.count(id) == 0) others.push_back(id);
  }
  std::cout << "# " << overlapping.size() << " overlap, " << others.size() << " do not\n"
            << Ids(PlacesOf(others, classes)) << "\n";
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> ReadVariants() {
  std::map<std::string, std::vector<std::string>> variants;
  if (absl::GetFlag(FLAGS_variants).empty()) return variants;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> lines, ReadList("variants", absl::GetFlag(FLAGS_variants)));
  for (const std::string& line : lines) {
    const std::vector<std::string> sides = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (sides.size() < 2) return FlagError("variants", absl::StrCat("'", line, "' is not NAME: SPELLING, SPELLING"));
    variants[sides[0]] = absl::StrSplit(sides[1], ',', absl::SkipWhitespace());
    for (std::string& spelling : variants[sides[0]]) absl::StripAsciiWhitespace(&spelling);
  }
  return variants;
}

absl::Status PrintFar(const WordNet& wordnet, const std::vector<std::string>& classes) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ReadList("far", absl::GetFlag(FLAGS_far)));
  OPENSET_ASSIGN_OR_RETURN(auto variants, ReadVariants());
  const FarRule rule(wordnet, classes);
  std::vector<int> far;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string why = rule.WhyNotFar(names[i], variants[names[i]]);
    std::cout << "# " << OneLine(names[i]) << (why.empty() ? " is far" : ": " + why) << "\n";
    if (why.empty()) far.push_back(static_cast<int>(i));
  }
  std::cout << "# " << far.size() << " of " << names.size() << " are far\n" << Ids(far) << "\n";
  return absl::OkStatus();
}

}  // namespace

absl::Status RunAttributeRule() {
  const std::string path = absl::GetFlag(FLAGS_matrix);
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFlagFile("matrix", path));
  OPENSET_ASSIGN_OR_RETURN(const AttributeMatrix attributes, ParseAttributes(text, path));
  const int classes = static_cast<int>(attributes.size());
  const std::vector<std::string> wanted = absl::GetFlag(FLAGS_known);
  std::vector<int> known;
  if (const std::optional<int> number = NumberOf(wanted); number.has_value()) {
    if (*number < 1 || *number >= classes) return FlagError("known", absl::StrCat("must be 1 to ", classes - 1));
    const std::vector<int64_t> order = RandomStream(absl::GetFlag(FLAGS_seed), "attributes/known").Permutation(classes);
    known.assign(order.begin(), order.begin() + *number);
  } else {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> items, ReadList("known", wanted));
    std::set<int> seen;
    for (const std::string& item : items) {
      if (!absl::SimpleAtoi(item, &known.emplace_back()) || known.back() < 0 || known.back() >= classes) {
        return FlagError("known", absl::StrCat("'", item, "' is not a class id (0 to ", classes - 1, ")"));
      }
      if (!seen.insert(known.back()).second) return FlagError("known", absl::StrCat("class ", item, " is repeated"));
    }
  }
  const std::vector<UnknownClass> ranked = RankUnknownClasses(attributes, known);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<int> sizes, LevelSizes(static_cast<int>(ranked.size())));
  std::cout << "# split { known: ... }\n" << Ids(known) << "\n";
  size_t at = 0;
  for (size_t level = 0; level < sizes.size(); ++level) {
    std::vector<int> ids;
    for (int i = 0; i < sizes[level]; ++i) ids.push_back(ranked[at + i].class_id);
    if (ids.empty()) continue;
    std::cout << absl::StreamFormat("# unknown { group: \"%s\" class_id: ... }: %d classes, cosine %.4f to %.4f\n",
                                    LevelName(level, sizes.size()), ids.size(), ranked[at].cosine,
                                    ranked[at + ids.size() - 1].cosine)
              << Ids(ids) << "\n";
    at += ids.size();
  }
  return absl::OkStatus();
}

absl::Status RunWordNetRule() {
  const std::string path = absl::GetFlag(FLAGS_wordnet);
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReadFlagFile("wordnet", path));
  OPENSET_ASSIGN_OR_RETURN(const WordNet wordnet, WordNet::Parse(text, path));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> classes,
                           ReadSynsets("wnids", absl::GetFlag(FLAGS_wnids), wordnet));
  const bool near = !absl::GetFlag(FLAGS_known).empty(), overlap = !absl::GetFlag(FLAGS_overlap).empty(),
             far = !absl::GetFlag(FLAGS_far).empty();
  if (near + overlap + far != 1) {
    return absl::InvalidArgumentError("wordnet: needs one of --known, --overlap and --far");
  }
  return near ? PrintNear(wordnet, classes) : overlap ? PrintOverlap(wordnet, classes) : PrintFar(wordnet, classes);
}

}  // namespace openset
