// How much of the variance of two methods' differences is between splits and between seeds, and how many splits and
// seeds a study needs.
#ifndef OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_
#define OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_

#include <optional>

#include "absl/types/span.h"

namespace openset {

// Of the model difference(split, seed) = mean + effect of the split + effect of the seed within the split. The noise of
// test samples is in the part of splits as far as all seeds of a split share it, and in the part of seeds otherwise.
struct VarianceComponents {
  int splits = 0;
  double runs_of_split = 0;  // harmonic mean of the numbers of seeds
  // Without several seeds of any split, `split` is the variance of one run of a split, and includes the seeds'
  // variance.
  double split = 0;
  std::optional<double> seed;
};

// The estimates of one-way analysis of variance (Searle, Casella and McCulloch 1992, 3.6, by unweighted means): `seed`
// is the mean variance within splits, with their degrees of freedom; `split` is the variance of the means of splits
// less seed / runs_of_split, and not below 0. `difference`, `split` [runs]. Nothing for fewer than two splits.
std::optional<VarianceComponents> ComponentsOf(absl::Span<const double> difference, absl::Span<const int> split);

// The variance of the mean of a split over `seeds` seeds: split + seed / seeds. Absent if the variance of seeds is not
// known and seeds > 1. Precondition: seeds >= 1.
std::optional<double> VarianceOfSplit(const VarianceComponents& components, int seeds);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_
