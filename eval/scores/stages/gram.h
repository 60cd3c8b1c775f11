// The deviation of Gram matrices of several stages from the range of training samples (Sastry and Oore 2020).
#ifndef OPENSET_EVAL_SCORES_STAGES_GRAM_H_
#define OPENSET_EVAL_SCORES_STAGES_GRAM_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// sum_s delta_s / E_s >= 0, with the deviation of stage s
//   delta_s = sum_i max(low_i - x_i, 0) / |low_i + 1e-6| + max(x_i - high_i, 0) / |high_i + 1e-6|
// over the stage's values x_i, row sums of its Gram matrices of several orders (StageValuesSpec, GRAM), where low_i and
// high_i are the least and the largest value of the training samples with the same predicted class (of all training
// samples if there is none). E_s is the mean deviation of held-out training samples, every tenth one, which low_i and
// high_i don't use; it is 1 if that mean is 0. If several logits are the largest, the predicted class is the one
// with the least score.
//
// As in the authors' code (compute_minmaxs and detect), except that its E_s comes from a tenth of the known test
// samples. OpenOOD and pytorch-ood differ: they compare the sum of a stage's values with the least and the largest of
// all values of the stage in the class's training samples, and divide by 50 instead of E_s.
class Gram : public Score {
 public:
  // Errors: those of CheckFitInput and CheckStageValues; kInvalidArgument for fewer than ten samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // [stages], the deviations if the class were the predicted one.
  Eigen::VectorXd Deviations(const ScoreInput& input, int64_t row, int64_t predicted) const;
  // The same for the class with the least sum of deviations / E_s.
  Eigen::VectorXd Deviations(const ScoreInput& input, int64_t row) const;

  std::vector<int64_t> widths_;
  Eigen::MatrixXd low_, high_;  // [K, V]
  Eigen::VectorXd expected_;    // [stages], E_s
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_STAGES_GRAM_H_
