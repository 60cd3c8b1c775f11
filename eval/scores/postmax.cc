// PostMax: the largest logit over the length of the features (Cruz et al. 2024).
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -P(max_c z_c / |x|) in [-1, 0] for logits z [K] and features x [D], P the distribution function of the generalised
// Pareto distribution of the same quotient over the correctly classified training samples, fitted as in the released
// code (fits/extreme_values.h). All samples below P's support are equally unknown. A length of 0 counts as 2^-52.
class PostMax : public Score {
 public:
  // Errors: also kInvalidArgument for fewer than two correctly classified samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  GeneralizedPareto quotients_;
  int64_t feature_dim_ = 0;
};

double QuotientOf(const ScoreInput& input, int64_t row) {
  const absl::Span<const float> logits = input.logits.subspan(row * input.num_outputs, input.num_outputs);
  const Eigen::VectorXd x = FeaturesOf(input, row);
  return logits[ArgMax(logits)] / std::max(x.norm(), std::numeric_limits<double>::epsilon());
}

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const PostMaxSpec&) { return std::make_unique<PostMax>(); }

}  // namespace openset
