// Resolves a task's class splits to the samples of a trial.
#ifndef OPENSET_DATA_TASK_H_
#define OPENSET_DATA_TASK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/splits/task_problems.h"
#include "data/task.pb.h"

namespace openset {

// Reads a task, fills in defaults and checks it. Errors: a read error (core/files/system_calls.h); kInvalidArgument
// with "FILE:LINE: path: problem" lines.
//
// `hints`, if not null, receives a line for each list of class ids in the file that means other classes as soon as a
// class is added to its data set, a folder of the user's (a path): "FILE:5: split[0].known: 3 is 'fox' ...".
absl::StatusOr<TaskSpec> ReadTask(const std::string& path, const Catalog& catalog,
                                  std::vector<std::string>* hints = nullptr);

// Which data of a task a trial uses.
struct TaskRequest {
  int split = 0;
  int unknown_classes = 0;        // use only the split's first N unknown classes; 0: all
  int train_limit_per_class = 0;  // use only the first N samples of each class; 0: all
  int test_limit_per_class = 0;   // the same for known and unknown test samples
  // Validation uses the last N training samples of each known class, which are then left out of training, and N samples
  // of each external class; 0: no validation.
  int validation_per_class = 0;
};

// Returns the selections of a split, with their part digests. Split s of a task with cross-validation is fold s mod
// `folds` of class split s div `folds`.
//
// Known samples are from the task's train and test parts, labelled by their class's position in the split. Unknown ones
// form one group for each source of unknowns, except sources all of whose classes are known. Errors, all
// kInvalidArgument "path: problem": a task or a split that breaks a rule (data/splits/task_problems.h); a split number
// that does not exist ("split"); more unknown classes than there are, or a number of them for several sources
// ("unknown_classes"); no sample left to train with ("validation_per_class"); a class without a sample to test on
// according to the catalog ("split N", with the class's name), except known classes of a test-only task of a file of
// outputs: a network may have classes that the test lacks.
absl::StatusOr<TaskData> ResolveTask(const TaskSpec& task, const TaskRequest& request, const Catalog& catalog);

// The same with the task's class splits as ClassSplitsOf() (data/splits/class_splits.h) returns them, for callers that
// resolve many splits.
absl::StatusOr<TaskData> ResolveTask(const TaskSpec& task, const std::vector<ClassSplit>& splits,
                                     const TaskRequest& request, const Catalog& catalog);

// Checks that each known class of split number `split` and, if asked, each external class has a sample to train on,
// according to the catalog. Only for methods that read training images. Errors: kInvalidArgument, with the class's
// name.
absl::Status CheckTrainingSamples(const TaskData& data, int split, bool with_external, const Catalog& catalog);

// Returns the openness (core/openness.h) of a trial's data. A class of a data set counts once, however many groups it
// is in.
double Openness(const TaskData& data);

}  // namespace openset

#endif  // OPENSET_DATA_TASK_H_
