#include "tools/cli/task/split_table.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "data/sets/data_set.h"
#include "data/splits/split_digest.h"
#include "data/task.h"

namespace openset {
namespace {

struct Samples {
  int64_t count = 0;
  bool is_bound = false;     // an upper limit, because the data is not here
  bool is_estimate = false;  // for the same reason

  void Add(const Samples& more) {
    count += more.count;
    is_bound |= more.is_bound;
    is_estimate |= more.is_estimate;
  }
  std::string Text() const {
    if (is_estimate) return absl::StrCat("about ", count, " (whole clusters; the data is not here)");
    return is_bound ? absl::StrCat("at most ", count, " (drawn, then limited per class; the data is not here)")
                    : absl::StrCat(count);
  }
};

// The samples that the selection takes from the data.
absl::StatusOr<int64_t> CountInData(const Selection& selection, const Catalog& catalog,
                                    const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const OpenedSelection opened, OpenSelection(selection, catalog, data_folders));
  return opened.samples.size();
}

// Counts from the catalog if that is exact, otherwise in the data.
absl::StatusOr<Samples> Count(const Selection& selection, const Catalog& catalog,
                              const std::vector<std::string>& data_folders) {
  OPENSET_ASSIGN_OR_RETURN(const int64_t most, CountSamples(selection, catalog));
  if (!IsEstimate(selection, catalog)) return Samples{most};
  const absl::StatusOr<int64_t> exact = CountInData(selection, catalog, data_folders);
  if (exact.ok()) return Samples{*exact};
  if (absl::IsInvalidArgument(exact.status())) return exact.status();
  const bool divides = DividesClusters(selection, catalog);
  return Samples{most, !divides, divides};
}

}  // namespace

absl::StatusOr<Table> SplitTable(const std::vector<ResolvedSplit>& splits, const Catalog& catalog,
                                 const std::vector<std::string>& data_folders) {
  Table table{{"task", "split", "known classes", "unknown classes", "openness", "train", "test known", "test unknown",
               "unknown/known", "hash"},
              {},
              1};
  for (const ResolvedSplit& split : splits) {
    const TaskData& data = *split.data;
    OPENSET_ASSIGN_OR_RETURN(const Samples train, Count(data.train(), catalog, data_folders));
    // Whether the task is for networks that were trained elsewhere (TaskSpec.test_only).
    const bool test_only = data.train().part() == data.test_known().part() && !data.train().has_fold();
    OPENSET_ASSIGN_OR_RETURN(Samples known, Count(data.test_known(), catalog, data_folders));
    for (const ShiftedGroup& group : data.test_shifted()) {
      OPENSET_ASSIGN_OR_RETURN(const Samples more, Count(group.selection(), catalog, data_folders));
      known.Add(more);
    }
    Samples unknown;
    std::set<std::pair<std::string, int>> classes;
    for (const UnknownGroup& group : data.test_unknown()) {
      OPENSET_ASSIGN_OR_RETURN(const Samples samples, Count(group.selection(), catalog, data_folders));
      unknown.Add(samples);
      for (const int id : group.selection().class_id()) classes.emplace(group.selection().data_set(), id);
    }
    const double ratio = static_cast<double>(unknown.count) / static_cast<double>(known.count);
    table.rows.push_back({split.task, absl::StrCat(split.split), absl::StrCat(data.train().class_id_size()),
                          absl::StrCat(classes.size()), absl::StrFormat("%.4f", Openness(data)),
                          test_only ? "-" : train.Text(), known.Text(), unknown.Text(), absl::StrFormat("%.3f", ratio),
                          SplitDigest(data).substr(0, 12)});
  }
  return table;
}

}  // namespace openset
