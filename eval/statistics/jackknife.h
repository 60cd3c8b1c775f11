// The noise that a finite number of test samples gives a metric, from its values without blocks of the samples. Records
// of the same samples leave out the same blocks, so that their differences have this noise too.
#ifndef OPENSET_EVAL_STATISTICS_JACKKNIFE_H_
#define OPENSET_EVAL_STATISTICS_JACKKNIFE_H_

#include <vector>

#include "absl/types/span.h"
#include "eval/metrics/ranked_input.h"
#include "eval/statistics/delong.h"

namespace openset {

inline constexpr int kJackknifeBlocks = 20;

// [N], the block of each sample, 0 .. kJackknifeBlocks - 1: the known samples, and those of each group of unknown ones,
// are dealt to the blocks in a random order that depends only on their number, so that blocks differ by at most one of
// each. Samples in clusters: whole clusters are dealt.
std::vector<int> JackknifeBlocksOf(const EvaluationInput& input);

// [kJackknifeBlocks], the statistic without each block. `block` is JackknifeBlocksOf(ranked.input()). Samples of weight
// 0 count as left out. Empty if a side has fewer samples than there are blocks, or none is left without a block.
// Precondition: the input has predictions, or the statistic is kAuroc.
std::vector<double> WithoutBlocks(const RankedInput& ranked, PairStatistic statistic, absl::Span<const int> block);

// The covariance of two metrics, or of one in two runs, over draws of test samples, by the delete-a-block jackknife
// (Shao and Wu 1989): (B - 1) / B times the sum of products of the deviations from the means of `a` and `b`, which have
// B >= 2 values each. With a = b, the variance.
double JackknifeCovariance(absl::Span<const double> a, absl::Span<const double> b);

}  // namespace openset

#endif  // OPENSET_EVAL_STATISTICS_JACKKNIFE_H_
