// Draws class splits by a rule: DrawnSplits in task.proto.
#ifndef OPENSET_DATA_SPLITS_DRAW_SPLITS_H_
#define OPENSET_DATA_SPLITS_DRAW_SPLITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/task.pb.h"

namespace openset {

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

// Returns the splits of the first level, then those of the second and so on, with classes in the order in which they
// were drawn. Errors: those of LevelsOf().
absl::StatusOr<std::vector<ClassSplit>> DrawSplits(const DrawnSplits& rule, const ClassPool& known,
                                                   const ClassPool& unknown);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_DRAW_SPLITS_H_
