// The class splits of a task: those that it lists, and those that are drawn by a rule (DrawnSplits in task.proto).
#ifndef OPENSET_DATA_SPLITS_CLASS_SPLITS_H_
#define OPENSET_DATA_SPLITS_CLASS_SPLITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// ---- Draws class splits by a rule: DrawnSplits in task.proto.

// The classes of a data set, from which some are drawn.
struct ClassPool {
  std::string data_set;
  int classes = 0;
};

// Returns all levels from which DrawnSplits.levels draws, ordered by the number of known, then of unknown classes. The
// two pools are one data set if they have the same name.
std::vector<OpennessLevel> PossibleLevels(const DrawnSplits& rule, const ClassPool& known, const ClassPool& unknown);

// Returns the levels of the rule, in its order or in that in which they were drawn. Errors, kInvalidArgument "field:
// problem": neither or both of `level` and `levels`; a level for which the pools are too small; more levels than are
// possible.
absl::StatusOr<std::vector<OpennessLevel>> LevelsOf(const DrawnSplits& rule, const ClassPool& known,
                                                    const ClassPool& unknown);

// Returns the splits of the first level, then of the second and so on, with classes in the order in which they were
// drawn. Errors: kInvalidArgument "field: problem" if the rule can't be followed, as LevelsOf().
absl::StatusOr<std::vector<ClassSplit>> DrawSplits(const DrawnSplits& rule, const ClassPool& known,
                                                   const ClassPool& unknown);

// ---- The splits of a task, with defaults filled in.

// Returns the sources of unknowns; by default, the test parts of the task's data set.
std::vector<UnknownSource> SourcesOf(const TaskSpec& task);

// Returns the parts of the data set for training, and for testing. With cross-validation both are the complete pool;
// with `test_only` both are the test parts.
std::vector<std::string> TrainParts(const TaskSpec& task);
std::vector<std::string> TestParts(const TaskSpec& task);

// A task whose data sets are other files in each class split ("features:net_{split}.npz"): whether it is one, and the
// task with the split's files. It lists its splits.
bool HasFilesOfSplits(const TaskSpec& task);
TaskSpec TaskOfSplit(const TaskSpec& task, int class_split);

// Returns the classes that are unknown in a source, whose data set is `info`.
std::vector<int> UnknownClasses(const TaskSpec& task, const ClassSplit& split, const UnknownSource& source,
                                const DataSetInfo& info);

// Returns the listed classes of `info`, the data set of the external images, or all its classes if none are listed.
std::vector<int> ExternalClasses(const ExternalSource& external, const DataSetInfo& info);

// The classes of a source of shifted samples, with their labels.
struct LabelledClasses {
  std::vector<int> class_id;
  std::vector<int> label;
};
// Returns the classes of `info`, a source of shifted samples, that have the names of known classes. `known_info` is the
// data set of the known classes.
LabelledClasses ShiftedClasses(const ClassSplit& split, const DataSetInfo& known_info, const DataSetInfo& info);

// Replaces the names of classes in listed splits (ClassSplit.known_class, unknown_class) by ids. Returns the problems,
// by field: ids and names of the same classes; a name that no class of the data set has, or several in two forms of
// Unicode. Leaves out a data set that is not in the catalog, which FindTaskProblems() names.
std::vector<FieldProblem> ResolveClassNames(const Catalog& catalog, TaskSpec* task);

// Returns the class splits as listed or drawn, without folds. Errors: kInvalidArgument "field: problem" if a rule can't
// be followed; kNotFound for an unknown data set.
absl::StatusOr<std::vector<ClassSplit>> ClassSplitsOf(const TaskSpec& task, const Catalog& catalog);

// Returns the number of folds, 1 without cross-validation.
int Folds(const TaskSpec& task);

// The limit on the number of a task's splits, including folds.
inline constexpr int64_t kMostSplits = 1000000;

// Returns how many splits a task has, including folds, whether they can be drawn or not. FindTaskProblems() refuses
// more than kMostSplits.
int64_t CountSplits(const TaskSpec& task);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_CLASS_SPLITS_H_
