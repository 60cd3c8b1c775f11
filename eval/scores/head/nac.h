// NAC, neuron activation coverage (Liu et al. 2024), of the last features.
#ifndef OPENSET_EVAL_SCORES_HEAD_NAC_H_
#define OPENSET_EVAL_SCORES_HEAD_NAC_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/input.h"
#include "eval/scores/score.h"

namespace openset {

// Minus the mean over features d of min(n_d(a_d) / full, 1), in [-1, 0]. a_d = 1 / (1 + exp(-steepness x_d g_d)) is the
// activation state of feature x_d, with g [D] = W^T (softmax(z) - 1/K) the gradient of the divergence from uniform
// probabilities, for the head z = W x + b; n_d(a) counts the training samples whose state lies in the interval of a.
// The counts are summed and divided once, so that samples with the same coverage have bitwise equal scores.
//
// The intervals [t_i, t_i+1) are shorter near 1/2: with h = thresholds / 2 (rounded down) and points u_i from 1 to
// sqrt(1000), h of them equally spaced, the thresholds are log_1000 u_i for all but the last, then 1 - log_1000 u_i in
// the opposite order, the last of them 0.01 larger, then 1.2.
//
// As in the authors' code for the layer avgpool alone; for other layers, see nac_stages
// (eval/scores/stages/nac_stages.h).
class Nac : public Score {
 public:
  struct Options {
    double full = 50;        // > 0
    int thresholds = 50;     // >= 4
    double steepness = 100;  // > 0
    // The number of training samples to count: samples / classes of each class, or the size of the smallest class if
    // that is less, drawn by the stream (1, "nac/CLASS"). 0: all.
    int64_t samples = 1000;
  };
  explicit Nac(const Options& options) : options_(options) {}

  // Errors: those of CheckFitInput, CheckFeatures and HeadOf.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // Replaces the block by the interval of each sample's states.
  void ToIntervals(const LinearHead& head, Eigen::MatrixXd* block) const;

  Options options_;
  std::vector<double> thresholds_;
  Eigen::MatrixXd counts_;  // [D, intervals], min(n_d, full)
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_NAC_H_
