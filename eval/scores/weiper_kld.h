// WeiPer+KLD: histograms of features and of the logits of perturbed heads (Granz et al. 2024).
#ifndef OPENSET_EVAL_SCORES_WEIPER_KLD_H_
#define OPENSET_EVAL_SCORES_WEIPER_KLD_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"
#include "eval/scores/score.pb.h"

namespace openset {

// D(x) + lambda_1 D(v) - lambda_2 mean_r max_c softmax(v_r)_c for features x [D] and the logits v [repeats * K] of
// `repeats` heads W_r x + b, whose rows are w_c + distance |w_c| e with a random direction e for each.
//
// D(x) is the symmetric Kullback-Leibler divergence, in nats, of two histograms of `bins` equal bins from the smallest
// to the largest value (plus 1e-8) that any training sample has: the sample's own, each bin the mean of `smoothing`
// around it (the first and last bin are repeated beyond the ends; an even window has one more bin above), and the mean
// of the training samples', not smoothed; values outside count in the total. epsilon is added to each bin, 0.01 for x
// and 0.025 for v, and both sum to 1.
//
// As in the paper, the perturbations are drawn once. The released code draws them anew for each batch of training and
// test samples. It also counts features in groups of 1000 and gives a shorter last group the same weight, which matters
// for more than 1000 features.
//
// Memory: repeats * K * D doubles, and the products of 128 samples for each thread.
class WeiperKld : public Score {
 public:
  explicit WeiperKld(const WeiperKldSpec& spec) : spec_(spec) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // The same with given directions, of any lengths: `noise` gives their repeats * K * D values, row by row and head by
  // head.
  absl::Status FitWithNoise(const ScoreInput& train, const std::function<double()>& noise);

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // The histogram of the training samples.
  struct Histogram {
    Eigen::VectorXd edges;  // [bins + 1]
    Eigen::VectorXd mean;   // [bins]
  };

  Histogram EmptyHistogram(double low, double high) const;

  const WeiperKldSpec spec_;
  std::vector<Eigen::MatrixXd> heads_;  // [K, D] each
  Eigen::VectorXd bias_;                // [K]
  Histogram features_;
  Histogram logits_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_WEIPER_KLD_H_
