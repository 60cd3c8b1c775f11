// Ranks with ties averaged.
#ifndef OPENSET_EVAL_STATISTICS_MID_RANKS_H_
#define OPENSET_EVAL_STATISTICS_MID_RANKS_H_

#include <vector>

#include "absl/types/span.h"

namespace openset {

struct MidRanks {
  std::vector<double> rank;  // [N], 1 for the smallest value; equal values share the mean of their ranks
  double tie_cubes = 0;      // sum over sets of t equal values of t^3 - t: 0 without ties
};

// Precondition: no NaN.
MidRanks MidRanksOf(absl::Span<const double> values);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_MID_RANKS_H_
