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

namespace openset {

// What the flags ask for. Lists are as on the command line: items, or one "@FILE" with an item a line.
struct NewTaskRequest {
  std::string name;
  std::vector<std::string> known;    // a number, or classes
  std::vector<std::string> unknown;  // the same; empty: all that are not known
  double openness = 0;               // in the place of a number of unknown classes
  int outside_classes = 0;           // of the first source of unknowns, where that is another data set
  int splits = 5;
  int folds = 1;  // of the pool of all parts; 1: no cross-validation
  uint64_t seed = 0;
};

// The items of a list; of a file without empty lines and those that begin with "#". Errors: those of reading the file;
// kInvalidArgument for an empty list.
absl::StatusOr<std::vector<std::string>> ReadList(absl::string_view flag, const std::vector<std::string>& list);

// The number, if that is the only item.
std::optional<int> NumberOf(const std::vector<std::string>& list);

// Class ids of names, or of numbers where no class has the number as its name. Errors: kInvalidArgument with the names
// that are alike.
absl::StatusOr<std::vector<int>> ClassIds(absl::string_view flag, const std::vector<std::string>& items,
                                          const DataSetInfo& info);

// Fills in the splits of `task`, whose data set is `info`. With a number of known classes they are drawn (DrawnSplits).
// Classes that are listed are known in each split, and the unknown ones are listed in it: as given, or all others in
// the order of the stream (seed, "NAME/split S"), of which openness levels take the first. Where the sources of `task`
// say what is unknown, the other classes of the data set are neither. Errors: kInvalidArgument with the flag.
absl::Status MakeSplits(const NewTaskRequest& request, const DataSetInfo& info, TaskSpec* task);

// Of the flags: writes the file, and says where.
absl::Status NewTask(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_
