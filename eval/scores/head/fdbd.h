// fDBD: distance of the features to the decision boundaries of the other classes (Liu and Qin 2024).
#ifndef OPENSET_EVAL_SCORES_HEAD_FDBD_H_
#define OPENSET_EVAL_SCORES_HEAD_FDBD_H_

#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"
#include "eval/softmax.h"

namespace openset {

// -sum_{c != y} (z_y - z_c) / |w_y - w_c| / |x - m| <= 0 for logits z [K], features x [D], the head's weights w [K, D],
// the mean m of the training features and the predicted class y, that of the largest logit (`tied` selects one
// if several are equal): (z_y - z_c) / |w_y - w_c| is the distance of x to the boundary between y and c. The paper uses
// the mean over c; the released code and OpenOOD use the sum, as here, and return its negative, a confidence.
// Classes with the same weights as y have no boundary and are ignored.
class Fdbd : public Score {
 public:
  // `centred`: divides by |x - m|, otherwise by |x|.
  explicit Fdbd(bool centred, TiedLogits tied = TiedLogits::kLeastScore) : centred_(centred), tied_(tied) {}

  // Ignores labels. Errors: those of CheckFeatureFitInput and HeadOf.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors, in addition: kInvalidArgument, with the row, if the features have no distance to divide by.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  bool centred_;
  TiedLogits tied_;
  Eigen::MatrixXd between_;  // [K, K], |w_a - w_b|
  Eigen::VectorXd origin_;   // [D], m or 0
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_HEAD_FDBD_H_
