#include "data/splits/repeated_splits.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/splits/class_splits.h"

namespace openset {
namespace {

constexpr size_t kMostTexts = 20;

}  // namespace

std::vector<RepeatedSplit> FindRepeatedSplits(absl::Span<const ClassSplit> splits) {
  std::map<std::set<int>, int> first;  // known classes -> split
  std::vector<RepeatedSplit> repeated;
  for (size_t s = 0; s < splits.size(); ++s) {
    const std::set<int> known(splits[s].known().begin(), splits[s].known().end());
    const auto [entry, is_new] = first.emplace(known, static_cast<int>(s));
    if (is_new) continue;
    RepeatedSplit& found = repeated.emplace_back();
    found.split = static_cast<int>(s);
    found.earlier = entry->second;
    found.unknown = splits[s].unknown_size();
    const ClassSplit& earlier = splits[entry->second];
    const std::set<int> unknown(earlier.unknown().begin(), earlier.unknown().end());
    for (const int id : splits[s].unknown()) found.unknown_in_common += unknown.count(id) > 0;
    found.is_equal = unknown == std::set<int>(splits[s].unknown().begin(), splits[s].unknown().end());
  }
  return repeated;
}

std::string RepeatText(const RepeatedSplit& repeated) {
  if (repeated.is_equal) {
    return absl::StrCat("split ", repeated.split, " has the same known and unknown classes as split ", repeated.earlier,
                        ": tests count the two as one split, with the seeds of both");
  }
  return absl::StrCat("split ", repeated.split, " has the same known classes as split ", repeated.earlier, " and ",
                      repeated.unknown_in_common, " of its ", repeated.unknown,
                      " unknown ones: together they are about one draw, and tests count two");
}

absl::StatusOr<std::vector<std::string>> RepeatTexts(const TaskSpec& task, const std::vector<int>& used,
                                                     const Catalog& catalog) {
  // A file of its own for each split has its own classes; their numbers say nothing.
  if (HasFilesOfSplits(task)) return std::vector<std::string>();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(task, catalog));
  std::set<int> class_splits;
  for (const int split : used) class_splits.insert(split / Folds(task));
  const auto is_used = [&](int split) { return used.empty() || class_splits.count(split) > 0; };
  std::vector<std::string> texts;
  size_t more = 0;
  for (const RepeatedSplit& repeated : FindRepeatedSplits(splits)) {
    if (!is_used(repeated.split) || !is_used(repeated.earlier)) continue;
    if (texts.size() == kMostTexts) {
      ++more;
      continue;
    }
    texts.push_back(absl::StrCat(task.name(), ": ", Folds(task) > 1 ? "class " : "", RepeatText(repeated)));
  }
  if (more > 0) {
    texts.push_back(absl::StrCat(task.name(), ": ", more, more == 1 ? " other split repeats" : " other splits repeat",
                                 " an earlier one"));
  }
  return texts;
}

}  // namespace openset
