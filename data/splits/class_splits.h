// What a task says of its splits, with what it leaves open filled in.
#ifndef OPENSET_DATA_SPLITS_CLASS_SPLITS_H_
#define OPENSET_DATA_SPLITS_CLASS_SPLITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// The sources of unknowns: by default the test parts of the task's data set.
std::vector<UnknownSource> SourcesOf(const TaskSpec& task);

// The parts of the data set that are trained on, and tested on. With cross-validation both are the whole pool;
// with `test_only` both are the test parts.
std::vector<std::string> TrainParts(const TaskSpec& task);
std::vector<std::string> TestParts(const TaskSpec& task);

// The classes that are unknown in a source, whose data set is `info`.
std::vector<int> UnknownClasses(const TaskSpec& task, const ClassSplit& split, const UnknownSource& source,
                                const DataSetInfo& info);

// All classes of the external images' data set, `info`, or those that are listed.
std::vector<int> ExternalClasses(const ExternalSource& external, const DataSetInfo& info);

// The classes of a source of shifted samples, `info`, that are known by name, with their labels. `known_info` is the
// data set of the known classes.
struct LabelledClasses {
  std::vector<int> class_id;
  std::vector<int> label;
};
LabelledClasses ShiftedClasses(const ClassSplit& split, const DataSetInfo& known_info, const DataSetInfo& info);

// The class splits as listed or drawn, without folds. Errors: kInvalidArgument "field: problem" of a rule that can't be
// followed; kNotFound for an unknown data set.
absl::StatusOr<std::vector<ClassSplit>> ClassSplitsOf(const TaskSpec& task, const Catalog& catalog);

// 1 without cross-validation.
int Folds(const TaskSpec& task);

// Of one task, folds counted.
inline constexpr int64_t kMostSplits = 1000000;

// How many splits a task has, folds counted, whether they can be drawn or not. FindTaskProblems() refuses more than
// kMostSplits.
int64_t CountSplits(const TaskSpec& task);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_CLASS_SPLITS_H_
