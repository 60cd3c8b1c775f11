// Counts activation states in intervals, for the NAC scores, over training samples of all classes.
#ifndef OPENSET_EVAL_SCORES_NAC_COUNTS_H_
#define OPENSET_EVAL_SCORES_NAC_COUNTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// The bounds of the intervals [t_i, t_i+1), `count` of them for an even count, one less for an odd one
// (eval/scores/nac.cc has the formula). Precondition: count >= 4.
std::vector<double> NacThresholds(int count);

// The interval of a state in [0, 1], from 0 to thresholds.size() - 2.
int64_t NacInterval(const std::vector<double>& thresholds, double state);

// The rows to count: samples / classes of each class in `labels`, or the size of the smallest class if that is less,
// but at least one, drawn by the stream (1, "nac/CLASS"). All rows if `samples` is 0. Precondition: labels in [0,
// classes).
std::vector<bool> NacCountedRows(absl::Span<const int32_t> labels, int64_t classes, int64_t samples);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_NAC_COUNTS_H_
