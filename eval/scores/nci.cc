// NCI: closeness of the features to the predicted class's weights (Liu and Qin 2025).
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -(w_y . (x - m) / |x - m| + alpha |x|_1) for features x [D], the mean m of the training features and the head's
// weights w_y of the predicted class y, which has the largest logit (`tied` selects one if several are equal). The
// quotient is 0 if x = m. May be negative; in units of the weights. (The released code returns its negative, a
// confidence.)
class Nci : public Score {
 public:
  explicit Nci(const NciSpec& spec) : alpha_(spec.alpha()), tied_(spec.tied()) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double alpha_;
  TiedLogitsRule::Value tied_;
  Eigen::MatrixXd weight_;  // [D, K]
  Eigen::VectorXd mean_;    // [D]
};

absl::Status Nci::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  weight_ = head.weight.transpose();
  mean_ = Mean(train.features, train.feature_dim);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Nci::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, mean_.size(), "nci"));
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, weight_.cols(), "nci"));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const Eigen::VectorXd x = FeaturesOf(input, row);
    const Eigen::VectorXd centred = x - mean_;
    const double distance = centred.norm();
    const absl::Span<const float> logits = LogitsOf(input, row);
    const float largest = logits[ArgMax(logits)];
    double along = -std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < logits.size(); ++c) {
      if (logits[c] != largest) continue;
      along = std::max(along, weight_.col(static_cast<int64_t>(c)).dot(centred));
      if (tied_ == TiedLogitsRule::FIRST) break;
    }
    scores[row] = -((distance > 0 ? along / distance : 0) + alpha_ * x.lpNorm<1>());
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NciSpec& spec) { return std::make_unique<Nci>(spec); }

}  // namespace openset
