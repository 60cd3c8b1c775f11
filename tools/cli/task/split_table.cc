#include "tools/cli/task/split_table.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "data/splits/class_splits.h"
#include "data/splits/repeated_splits.h"
#include "data/splits/split_digest.h"
#include "data/task.h"

namespace openset {
namespace {

constexpr size_t kMostWarnings = 20;

}  // namespace

absl::StatusOr<Table> SplitTable(const std::vector<ResolvedSplit>& splits, const Catalog& catalog) {
  Table table{
      {"task", "split", "known", "unknown", "openness", "train", "test known", "test unknown", "imbalance", "hash"},
      {},
      1};
  for (const ResolvedSplit& split : splits) {
    const TaskData& data = *split.data;
    OPENSET_ASSIGN_OR_RETURN(const int64_t train, CountSamples(data.train(), catalog));
    // Of a task for networks that were trained elsewhere (TaskSpec.test_only).
    const bool test_only = data.train().part() == data.test_known().part() && !data.train().has_fold();
    OPENSET_ASSIGN_OR_RETURN(int64_t known, CountSamples(data.test_known(), catalog));
    for (const ShiftedGroup& group : data.test_shifted()) {
      OPENSET_ASSIGN_OR_RETURN(const int64_t more, CountSamples(group.selection(), catalog));
      known += more;
    }
    int64_t unknown = 0;
    bool fewer = false;
    std::set<std::pair<std::string, int>> classes;
    for (const UnknownGroup& group : data.test_unknown()) {
      OPENSET_ASSIGN_OR_RETURN(const int64_t samples, CountSamples(group.selection(), catalog));
      unknown += samples;
      fewer |= MayHaveFewer(group.selection());
      for (const int id : group.selection().class_id()) classes.emplace(group.selection().data_set(), id);
    }
    table.rows.push_back({split.task, absl::StrCat(split.split), absl::StrCat(data.train().class_id_size()),
                          absl::StrCat(classes.size()), absl::StrFormat("%.4f", Openness(data)),
                          test_only ? "-" : absl::StrCat(train), absl::StrCat(known),
                          absl::StrCat(fewer ? "at most " : "", unknown),
                          absl::StrFormat("%.3f", static_cast<double>(unknown) / static_cast<double>(known)),
                          SplitDigest(data).substr(0, 12)});
  }
  return table;
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
    warnings.push_back(
        absl::StrCat("warning: ", task.name(), ": ", Folds(task) > 1 ? "class " : "", Warning(repeated)));
  }
  if (more > 0) {
    warnings.push_back(absl::StrCat("warning: ", task.name(), ": ", more,
                                    more == 1 ? " other split repeats" : " other splits repeat", " an earlier one"));
  }
  return warnings;
}

}  // namespace openset
