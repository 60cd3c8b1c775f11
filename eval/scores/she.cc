// SHE: agreement with the pattern of the predicted class (Zhang et al. 2023).
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -x . s_y for features x [D], with y the output of the largest logit and s_c [D] the mean feature of the correctly
// classified training samples of class c: the simplified Hopfield energy. If several logits are the largest, `tied`
// selects the class. Grows with the length of x. Doesn't change if a constant is added to all logits.
class She : public Score {
 public:
  explicit She(const SheSpec& spec) : tied_(spec.tied()) {}

  // Outputs that are not the label of any sample have no pattern; y is never one of them.
  // Errors: also kInvalidArgument, with the class, for a class of the labels of which no sample is classified
  // correctly.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  TiedLogitsRule::Value tied_;
  std::vector<Eigen::VectorXd> patterns_;  // [K], empty for outputs without one
  int64_t feature_dim_ = 0;
};

absl::Status She::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  OPENSET_ASSIGN_OR_RETURN(patterns_, MeansOfCorrect(train.features, train.feature_dim, train, labels));
  feature_dim_ = train.feature_dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> She::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "she"));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  const int64_t k = input.num_outputs;
  if (k != patterns_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("she was fitted to ", patterns_.size(), " outputs; these have ", k));
  }
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = input.logits.subspan(row * k, k);
    float largest = -std::numeric_limits<float>::infinity();
    for (int64_t c = 0; c < k; ++c) {
      if (patterns_[c].size() > 0) largest = std::max(largest, logits[c]);
    }
    const Eigen::VectorXd x =
        Eigen::Map<const Eigen::VectorXf>(input.features.data() + row * feature_dim_, feature_dim_).cast<double>();
    double score = std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < k; ++c) {
      if (patterns_[c].size() == 0 || logits[c] != largest) continue;
      score = std::min(score, -x.dot(patterns_[c]));
      if (tied_ == TiedLogitsRule::FIRST) break;
    }
    scores[row] = score;
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const SheSpec& spec) { return std::make_unique<She>(spec); }

}  // namespace openset
