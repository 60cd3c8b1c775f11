#include "eval/scores/shaping/adascale.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/shaping/activation_ratio.h"

namespace openset {
namespace {

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
double ShiftOf(const Adascale::Options& options, const ScoreInput& input, int64_t row) {
  const int64_t dim = input.feature_dim;
  const absl::Span<const float> x = input.features.subspan(row * dim, dim);
  const absl::Span<const float> changed = input.perturbed_features.subspan(row * dim, dim);
  const int64_t count1 = static_cast<int64_t>(static_cast<double>(dim) * options.k1 / 100);
  const int64_t count2 = static_cast<int64_t>(static_cast<double>(dim) * options.k2 / 100);
  std::vector<int64_t> order(dim);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + std::max(count1, count2), order.end(),
                    [&x](int64_t a, int64_t b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
  double values = 0;
  double shifts = 0;
  for (int64_t i = 0; i < count1; ++i) values += std::max(changed[order[i]], 0.0f);
  for (int64_t i = 0; i < count2; ++i) shifts += std::abs(static_cast<double>(x[order[i]]) - changed[order[i]]);
  return values + options.lambda * shifts;
}

}  // namespace

absl::Status Adascale::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckPerturbed(train));
  feature_dim_ = train.feature_dim;
  fitted_.resize(train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t row) { fitted_[row] = ShiftOf(options_, train, row); });
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
          const auto larger = std::upper_bound(fitted_.begin(), fitted_.end(), ShiftOf(options_, input, first + j));
          const double share = static_cast<double>(larger - fitted_.begin()) / static_cast<double>(fitted_.size());
          const double percentile =
              options_.min_percentile + (1 - share) * (options_.max_percentile - options_.min_percentile);
          ratios[j] = ActivationRatio(Eigen::VectorXd(block->col(j).cwiseMax(0)), NumKept(feature_dim_, percentile));
          if (options_.variant == Variant::kA) block->col(j) *= std::exp(ratios[j]);
        }
        Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
        for (int64_t j = 0; j < count; ++j) {
          if (options_.variant == Variant::kL) logits.col(j) *= ratios[j] * ratios[j];
          scores[first + j] = -LogSumExp(logits.col(j));
        }
      });
  OPENSET_RETURN_IF_ERROR(CheckFinite(
      scores, "cannot be scaled: the larger ones are too small a part of their sum; lower the percentiles"));
  return scores;
}

}  // namespace openset
