#include "eval/scores/features/postmax.h"

#include <algorithm>
#include <limits>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {
namespace {

double QuotientOf(const ScoreInput& input, int64_t row) {
  const absl::Span<const float> logits = input.logits.subspan(row * input.num_outputs, input.num_outputs);
  const Eigen::VectorXd x = FeaturesOf(input, row);
  return logits[ArgMax(logits)] / std::max(x.norm(), std::numeric_limits<double>::epsilon());
}

}  // namespace

absl::Status PostMax::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  std::vector<double> quotients;
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (ArgMax(train.logits.subspan(row * train.num_outputs, train.num_outputs)) == labels[row]) {
      quotients.push_back(QuotientOf(train, row));
    }
  }
  absl::StatusOr<GeneralizedPareto> fit = FitGeneralizedPareto(std::move(quotients));
  if (!fit.ok()) return Annotate(fit.status(), "the correctly classified training samples");
  quotients_ = *fit;
  feature_dim_ = train.feature_dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> PostMax::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "postmax"));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) { scores[row] = -quotients_.Cdf(QuotientOf(input, row)); });
  return scores;
}

}  // namespace openset
