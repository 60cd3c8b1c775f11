// fDBD: distance of the features to the decision boundaries of the other classes (Liu and Qin 2024).
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -sum_{c != y} (z_y - z_c) / |w_y - w_c| / |x - m| <= 0 for logits z [K], features x [D], the head's weights w [K, D],
// the mean m of the training features and the predicted class y, which has the largest logit (`tied` selects one
// if several are equal): (z_y - z_c) / |w_y - w_c| is the distance of x to the boundary between y and c. The paper uses
// the mean over c; the released code and OpenOOD use the sum, as here, and return its negative, a confidence.
// Classes with the same weights as y have no boundary and are ignored.
class Fdbd : public Score {
 public:
  explicit Fdbd(const FdbdSpec& spec) : centred_(spec.normaliser() != FdbdSpec::NORM), tied_(spec.tied()) {}

  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors: also kInvalidArgument, with the row, if the features have no distance to divide by.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  bool centred_;  // divides by |x - m|, otherwise by |x|
  TiedLogitsRule::Value tied_;
  Eigen::MatrixXd between_;  // [K, K], |w_a - w_b|
  Eigen::VectorXd origin_;   // [D], m or 0
};

absl::Status Fdbd::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  const Eigen::MatrixXd weight = head.weight.transpose();
  between_.resize(weight.cols(), weight.cols());
  for (int64_t c = 0; c < weight.cols(); ++c) {
    between_.col(c) = (weight.colwise() - Eigen::VectorXd(weight.col(c))).colwise().norm().transpose();
  }
  origin_ = centred_ ? Mean(train.features, train.feature_dim) : Eigen::VectorXd::Zero(train.feature_dim);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Fdbd::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, origin_.size(), "fdbd"));
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, between_.rows(), "fdbd"));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = LogitsOf(input, row);
    const double largest = logits[ArgMax(logits)];
    double most = 0;
    for (size_t y = 0; y < logits.size(); ++y) {
      if (logits[y] != largest) continue;
      double sum = 0;
      for (size_t c = 0; c < logits.size(); ++c) {
        const double distance = between_(static_cast<int64_t>(c), static_cast<int64_t>(y));
        if (distance > 0) sum += (largest - logits[c]) / distance;
      }
      most = std::max(most, sum);
      if (tied_ == TiedLogitsRule::FIRST) break;
    }
    const double length = (FeaturesOf(input, row) - origin_).norm();
    scores[row] = length == 0 ? std::nan("") : -most / length;
  });
  for (int64_t row = 0; row < input.num_samples; ++row) {
    if (std::isnan(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("the features of row ", row,
                                                     centred_ ? " are the mean of the training features" : " are all 0",
                                                     ": fdbd divides by their distance to it"));
    }
  }
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const FdbdSpec& spec) { return std::make_unique<Fdbd>(spec); }

}  // namespace openset
