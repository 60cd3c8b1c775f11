// Finds splits of a task that are not independent.
#ifndef OPENSET_DATA_SPLITS_REPEATED_SPLITS_H_
#define OPENSET_DATA_SPLITS_REPEATED_SPLITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "data/catalog.h"
#include "data/task.pb.h"

namespace openset {

// A split with the same set of known classes as an earlier one. Models trained on the two differ at most in the order
// of their outputs, so the spread over both is smaller than over two independent draws.
struct RepeatedSplit {
  int split = 0;
  int earlier = 0;  // the first split with these known classes
  int unknown_in_common = 0;
  int unknown = 0;        // classes listed in `split`; 0: all others
  bool is_equal = false;  // the unknown classes are the same, too
};

// Returns the repeated splits in the order of `split`.
std::vector<RepeatedSplit> FindRepeatedSplits(absl::Span<const ClassSplit> splits);

// "split 1 has the same known and unknown classes as split 0: tests count the two as one split, with the seeds of
// both", or "split 1 has the same known classes as split 0 and 9 of its 10 unknown ones: together they are about one
// draw, and tests count two".
std::string RepeatText(const RepeatedSplit& repeated);

// "TASK: split 1 has ..." for each split that repeats the known classes of another one. `used` has the numbers of the
// splits in use, counting folds; empty: all. Errors: kInvalidArgument if the splits can't be drawn.
absl::StatusOr<std::vector<std::string>> RepeatTexts(const TaskSpec& task, const std::vector<int>& used,
                                                     const Catalog& catalog);

}  // namespace openset

#endif  // OPENSET_DATA_SPLITS_REPEATED_SPLITS_H_
