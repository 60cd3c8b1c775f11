// `openset task new`.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// The values of the flags. A list has items, or one "@FILE" whose file has an item on each line.
struct NewTaskRequest {
  std::string name;
  std::vector<std::string> known;    // a number, or classes
  std::vector<std::string> unknown;  // the same; empty: all that are not known
  double openness = 0;               // instead of a number of unknown classes
  int outside_classes = 0;           // of the first source of unknown samples, if it is another data set
  int splits = 5;
  int folds = 1;  // of the pool of all parts; 1: no cross-validation
  uint64_t seed = 0;
};

// kInvalidArgument: "--FLAG: WHAT".
absl::Status FlagError(absl::string_view flag, absl::string_view what);

// Returns the items of a list. Skips empty lines of a file and those that begin with "#". Errors: those of reading the
// file; kInvalidArgument for an empty list.
absl::StatusOr<std::vector<std::string>> ReadList(absl::string_view flag, const std::vector<std::string>& list);

// Returns the number if it is the only item.
std::optional<int> NumberOf(const std::vector<std::string>& list);

// Returns the class ids of names. A number is a class id unless a class has it as its name. Errors: kInvalidArgument
// with similar names.
absl::StatusOr<std::vector<int>> ClassIds(absl::string_view flag, const std::vector<std::string>& items,
                                          const DataSetInfo& info);

// Fills in the splits of `task`, whose data set is `info`. If the request has a number of known classes, they are drawn
// (DrawnSplits). If it lists them, they are known in each split, and the split lists the unknown classes: those of the
// request, or all others in the order of the stream (seed, "NAME/split S"), of which openness levels use the first. If
// the sources of `task` define the unknown samples, the data set's other classes are neither known nor unknown. Errors:
// kInvalidArgument with the flag.
absl::Status MakeSplits(const NewTaskRequest& request, const DataSetInfo& info, TaskSpec* task);

// Makes the task that the flags describe, writes its file, and prints the path.
absl::Status NewTask(const std::string& name, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_
