// What the NAC scores count: activation states in intervals, of training samples of all classes alike.
#ifndef OPENSET_EVAL_SCORES_HEAD_NAC_COUNTS_H_
#define OPENSET_EVAL_SCORES_HEAD_NAC_COUNTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// The bounds of the intervals [t_i, t_i+1), `count` of them for an even count, one less for an odd one
// (eval/scores/head/nac.h has the formula). Precondition: count >= 4.
std::vector<double> NacThresholds(int count);

// The interval of a state in [0, 1], from 0 to thresholds.size() - 2.
int64_t NacInterval(const std::vector<double>& thresholds, double state);

// Which rows are counted: samples / classes of each class that `labels` have, as many as the smallest one has where
// that is less, at least one, drawn by the stream (1, "nac/CLASS"); all for samples of 0. Precondition: labels in [0,
// classes).
std::vector<bool> NacCountedRows(absl::Span<const int32_t> labels, int64_t classes, int64_t samples);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_NAC_COUNTS_H_
