// A table of splits, with a row for each.
#ifndef OPENSET_TOOLS_CLI_TASK_SPLIT_TABLE_H_
#define OPENSET_TOOLS_CLI_TASK_SPLIT_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/text/table.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// A split of a task, resolved.
struct ResolvedSplit {
  std::string task;
  int split = 0;
  const TaskData* data = nullptr;
};

// What the columns are, for the line below a table of text.
inline constexpr char kSplitColumns[] =
    "train, test known and test unknown are numbers of samples, and unknown/known is the ratio of the test samples; "
    "splits with the same hash have the same samples.";

// The columns are task, split, numbers of known and unknown classes, openness, training samples ("-" for none), known
// and unknown test samples by the catalog, the ratio of unknown to known ones, and the first 12 digits of the split's
// hash (data/splits/split_digest.h). Samples that are drawn before they are limited per class, and those of
// folds of clusters, are counted in the data (IsEstimate() in data/catalog.h). If the data is not in the folders, the
// line says "at most" or "about", and why. Errors: kNotFound for an unknown data set or part; kInvalidArgument for a
// class id out of range, and for a class with too few clusters (SelectSamples() in data/selection.h); kDataLoss if the
// catalog's part has changed since the selection was made (CountSamples() in data/catalog.h).
absl::StatusOr<Table> SplitTable(const std::vector<ResolvedSplit>& splits, const Catalog& catalog,
                                 const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_SPLIT_TABLE_H_
