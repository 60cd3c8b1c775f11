// What is wrong with a task.
#ifndef OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_
#define OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// What is wrong with a task that obeys its schema's rules, by field: unknown data sets and parts; no splits, or both
// listed and drawn ones; a rule that can't be followed; classes that are out of range, listed twice, or both known and
// unknown; parts used twice; groups of one name, or of that of a mean over groups; a list of unknown classes though the
// first source, or one of its data set, has a list of its own; a source that has no class left; shifted
// samples of no known class.
std::vector<FieldProblem> FindTaskProblems(const TaskSpec& task, const Catalog& catalog);

// Those of all but the splits, and of one class split.
std::vector<FieldProblem> FindSplitProblems(const TaskSpec& task, const ClassSplit& split, int number,
                                            const Catalog& catalog);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_
