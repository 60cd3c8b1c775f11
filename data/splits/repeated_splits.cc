#include "data/splits/repeated_splits.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/splits/class_splits.h"

namespace openset {
namespace {

constexpr size_t kMostWarnings = 20;

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
  }
  return repeated;
}

std::string Warning(const RepeatedSplit& repeated) {
  const bool same_unknown = repeated.unknown_in_common == repeated.unknown;
  return absl::StrCat(
      "split ", repeated.split, " has the same known classes as split ", repeated.earlier, " and ",
      same_unknown ? "the same" : absl::StrCat(repeated.unknown_in_common, " of its ", repeated.unknown),
      " unknown ones: together they are one draw, not two");
}

absl::StatusOr<std::vector<std::string>> RepeatWarnings(const TaskSpec& task, const std::vector<int>& used,
                                                        const Catalog& catalog) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ClassSplit> splits, ClassSplitsOf(task, catalog));
  std::set<int> class_splits;
  for (const int split : used) class_splits.insert(split / Folds(task));
  const auto is_used = [&](int split) { return used.empty() || class_splits.count(split) > 0; };
  std::vector<std::string> warnings;
  size_t more = 0;
  for (const RepeatedSplit& repeated : FindRepeatedSplits(splits)) {
    if (!is_used(repeated.split) || !is_used(repeated.earlier)) continue;
    if (warnings.size() == kMostWarnings) {
      ++more;
      continue;
    }
    warnings.push_back(absl::StrCat(task.name(), ": ", Folds(task) > 1 ? "class " : "", Warning(repeated)));
  }
  if (more > 0) {
    warnings.push_back(absl::StrCat(task.name(), ": ", more,
                                    more == 1 ? " other split repeats" : " other splits repeat", " an earlier one"));
  }
  return warnings;
}

}  // namespace openset
