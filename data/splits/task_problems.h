// Finds the problems of a task.
#ifndef OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_
#define OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/proto/proto_rules.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// Returns the problems, by field, of a task that obeys its schema's rules: unknown data sets and parts; no splits, or
// both listed and drawn ones; a rule that can't be followed; classes that are out of range, listed twice, or both known
// and unknown; parts used twice; groups with the same name, or with the name of a mean over groups; a list of unknown
// classes although the first source, or another with its data set, has its own list; a source without any unknown
// class; shifted samples of no known class.
std::vector<FieldProblem> FindTaskProblems(const TaskSpec& task, const Catalog& catalog);

// Returns the problems of everything but the splits, and the problems of one class split.
std::vector<FieldProblem> FindSplitProblems(const TaskSpec& task, const ClassSplit& split, int number,
                                            const Catalog& catalog);

// Replaces the part that scores are fitted to, and renames the task, because its scores differ. Does nothing if `part`
// is empty. Errors: kInvalidArgument if the task has no fit_part, or `part` can't be it.
absl::Status ReplaceFitPart(const std::string& part, const Catalog& catalog, TaskSpec* task);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_TASK_PROBLEMS_H_
