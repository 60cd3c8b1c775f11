// NCI: closeness of the features to the predicted class's weights (Liu and Qin 2025).
#ifndef OPENSET_EVAL_SCORES_HEAD_NCI_H_
#define OPENSET_EVAL_SCORES_HEAD_NCI_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/input.h"
#include "eval/scores/score.h"
#include "eval/softmax.h"

namespace openset {

// -(w_y . (x - m) / |x - m| + alpha |x|_1) for features x [D], the mean m of the training features and the head's
// weights w_y of the predicted class y, that of the largest logit (`tied` selects one if several are equal). The
// quotient is 0 if x = m. May be negative; in units of the weights. (The released code returns its negative, a
// confidence.)
class Nci : public Score {
 public:
  // Precondition: alpha >= 0.
  explicit Nci(double alpha, TiedLogits tied = TiedLogits::kLeastScore) : alpha_(alpha), tied_(tied) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput and HeadOf.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double alpha_;
  TiedLogits tied_;
  Eigen::MatrixXd weight_;  // [D, K]
  Eigen::VectorXd mean_;    // [D]
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_NCI_H_
