// How much of the variance of two methods' differences is between splits, between seeds and of test images, and how
// many splits and seeds a study needs.
#ifndef OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_
#define OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// Of the model difference(split, seed) = mean + effect of the split + effect of the seed within the split. The noise of
// test samples is in the part of splits as far as all seeds of a split share it, and in the part of seeds otherwise.
// What all splits share (the same far images) is in neither: it moves all differences alike.
struct VarianceComponents {
  int splits = 0;
  double runs_of_split = 0;  // harmonic mean of the numbers of seeds
  // Without several seeds of any split, `split` is the variance of one run of a split, and includes the seeds'
  // variance.
  double split = 0;
  std::optional<double> seed;
  // The variance by test samples, without what all splits share, and the part of it that is in `split`; the rest is in
  // `seed`. Absent if the runs have no values without blocks.
  std::optional<double> images, images_of_split;
};

// The estimates of one-way analysis of variance (Searle, Casella and McCulloch 1992, 3.6, by unweighted means): `seed`
// is the mean variance within splits, with their degrees of freedom; `split` is the variance of the means of splits
// less seed / runs_of_split, and not below 0. `difference`, `split` [runs]. Nothing for fewer than two splits.
std::optional<VarianceComponents> ComponentsOf(absl::Span<const double> difference, absl::Span<const int> split);

// The same with `images`. `without_blocks` [runs] has the difference of each run without each block of its test samples
// (WithoutBlocks(), jackknife.h). The jackknife's variances of runs have the mean V, its covariances of two runs of a
// split the mean C, and of runs of different splits the mean D: images = V - D, images_of_split = C - D, not below 0
// and at most `images`. (Where each split has one seed: images_of_split = images.)
std::optional<VarianceComponents> ComponentsOf(absl::Span<const double> difference, absl::Span<const int> split,
                                               absl::Span<const std::vector<double>> without_blocks);

// Shares of the variance of a run's difference, in percent: of splits and seeds, without the images' part of each if
// that is known, and of test samples. A part whose estimate would be below 0 counts as 0. Without several seeds of a
// split, `split` is absent, too: it is not told apart from seeds. All are absent if nothing varies.
struct VarianceShares {
  std::optional<double> split, seed, images;
};
VarianceShares SharesOf(const VarianceComponents& components);

// The variance of the mean of a split over `seeds` seeds: split + seed / seeds. Absent if the variance of seeds is not
// known and seeds > 1. Precondition: seeds >= 1.
std::optional<double> VarianceOfSplit(const VarianceComponents& components, int seeds);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_VARIANCE_COMPONENTS_H_
