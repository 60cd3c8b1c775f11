// AdaSCALE: energy after features are scaled by a percentile that depends on the sample (Regmi 2025).
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/activation_ratio.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// For features x [D] of an image, x' [D] of the image with some pixels changed, and the head W [K, D], b [K]:
//   q = sum of max(0, x'_d) over the floor(D k1 / 100) largest x_d
//       + lambda * sum of |x_d - x'_d| over the floor(D k2 / 100) largest x_d     (the first ones of equal values)
//   p = min + (1 - F(q)) (max - min), F(q) the share of the fitted samples whose q is not larger
//   r = sum of max(0, x) over the sum of the D - round(D p / 100) largest         (ActivationRatio)
// The score is -log sum_c exp(z_c) of z = W (x exp(r)) + b for A, of z = r^2 (W x + b) for L. (OpenOOD fits F on up to
// 5000 validation samples and returns the negative, a confidence.)
class Adascale : public Score {
 public:
  explicit Adascale(const AdascaleSpec& spec) : spec_(spec) {}

  // Ignores labels. Errors: also kInvalidArgument if there are no perturbed_features.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  // Errors: also kInvalidArgument, with the row, if exp(r) is too large, as r may be for percentiles near 100.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  const AdascaleSpec spec_;
  int64_t feature_dim_ = 0;
  std::vector<double> fitted_;  // q of the samples, ascending
};

absl::Status CheckPerturbed(const ScoreInput& input) {
  if (input.perturbed_features.empty() && input.num_samples > 0) {
    return absl::InvalidArgumentError(
        "the score needs features of images with some pixels changed (perturbed_features), which the outputs lack");
  }
  ScoreInput perturbed = input;
  perturbed.features = input.perturbed_features;
  return Annotate(CheckFeatures(perturbed), "perturbed_features");
}

// q of a sample.
double ShiftOf(const AdascaleSpec& spec, const ScoreInput& input, int64_t row) {
  const int64_t dim = input.feature_dim;
  const absl::Span<const float> x = input.features.subspan(row * dim, dim);
  const absl::Span<const float> changed = input.perturbed_features.subspan(row * dim, dim);
  const int64_t count1 = static_cast<int64_t>(static_cast<double>(dim) * spec.k1() / 100);
  const int64_t count2 = static_cast<int64_t>(static_cast<double>(dim) * spec.k2() / 100);
  std::vector<int64_t> order(dim);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + std::max(count1, count2), order.end(),
                    [&x](int64_t a, int64_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
  double values = 0;
  double shifts = 0;
  for (int64_t i = 0; i < count1; ++i) values += std::max(changed[order[i]], 0.0f);
  for (int64_t i = 0; i < count2; ++i) shifts += std::abs(static_cast<double>(x[order[i]]) - changed[order[i]]);
  return values + spec.lambda() * shifts;
}

absl::Status Adascale::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckPerturbed(train));
  feature_dim_ = train.feature_dim;
  fitted_.resize(train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t row) { fitted_[row] = ShiftOf(spec_, train, row); });
  std::sort(fitted_.begin(), fitted_.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Adascale::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "adascale"));
  OPENSET_RETURN_IF_ERROR(CheckPerturbed(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        std::vector<double> ratios(count);
        for (int64_t j = 0; j < count; ++j) {
          const auto larger = std::upper_bound(fitted_.begin(), fitted_.end(), ShiftOf(spec_, input, first + j));
          const double share = static_cast<double>(larger - fitted_.begin()) / static_cast<double>(fitted_.size());
          const double percentile =
              spec_.min_percentile() + (1 - share) * (spec_.max_percentile() - spec_.min_percentile());
          ratios[j] = ActivationRatio(Eigen::VectorXd(block->col(j).cwiseMax(0)), NumKept(feature_dim_, percentile));
          if (spec_.variant() != AdascaleSpec::L) block->col(j) *= std::exp(ratios[j]);
        }
        Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
        for (int64_t j = 0; j < count; ++j) {
          if (spec_.variant() == AdascaleSpec::L) logits.col(j) *= ratios[j] * ratios[j];
          scores[first + j] = -LogSumExp(logits.col(j));
        }
      });
  OPENSET_RETURN_IF_ERROR(CheckFinite(
      scores, "cannot be scaled: the larger ones are too small a part of their sum; lower the percentiles"));
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const AdascaleSpec& spec) { return std::make_unique<Adascale>(spec); }

}  // namespace openset
