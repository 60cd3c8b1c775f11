// Class splits by a rule: DrawnSplits in task.proto.
#ifndef OPENSET_DATA_SPLITS_DRAW_SPLITS_H_
#define OPENSET_DATA_SPLITS_DRAW_SPLITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/task.pb.h"

namespace openset {

// Where classes are drawn from.
struct ClassPool {
  std::string data_set;
  int classes = 0;
};

// All levels that DrawnSplits.levels chooses among, by known, then by unknown classes. One data set if `unknown` is of
// the same name.
std::vector<OpennessLevel> PossibleLevels(const DrawnSplits& rule, const ClassPool& known, const ClassPool& unknown);

// The levels of the rule, in its order or in that in which they were drawn. Errors, kInvalidArgument "field: problem":
// neither or both of `level` and `levels`; one that the pools are too small for; more levels than are possible.
absl::StatusOr<std::vector<OpennessLevel>> LevelsOf(const DrawnSplits& rule, const ClassPool& known,
                                                    const ClassPool& unknown);

// The splits of the first level, then those of the second ..., classes in the order in which they were drawn. Errors:
// those of LevelsOf.
absl::StatusOr<std::vector<ClassSplit>> DrawSplits(const DrawnSplits& rule, const ClassPool& known,
                                                   const ClassPool& unknown);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_DRAW_SPLITS_H_
