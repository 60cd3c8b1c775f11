// GHOST, the Gaussian hypothesis open-set technique (Rabinowitz et al. 2025).
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// gamma = z_y / s with s = sum_d |x_d - m_yd| / sigma_yd for logits z [K], features x [D] and y the output of the
// largest logit: m_c [D] and sigma_c [D] are mean and standard deviation (divided by n - 1) of the features of the
// correctly classified training samples of class c; features with sigma 0 are ignored. The score is
//   -gamma                  (the paper), or
//   -P_y(gamma) in [-1, 0]  (the released code), P_c the distribution function of the generalised Pareto distribution
//                           of gamma over those samples of class c (fits/extreme_values.h), whose search carries the
//                           rounding of a sum over features to about 1e-8.
// If several logits are the largest, `tied` selects the class. An s of 0 counts as 2^-52.
class Ghost : public Score {
 public:
  explicit Ghost(const GhostSpec& spec) : probability_(spec.value() == GhostSpec::PROBABILITY), tied_(spec.tied()) {}

  // Outputs that are not the label of any sample are ignored for y.
  // Errors: also kInvalidArgument, with the class, for a class of the labels with fewer than two correctly classified
  // samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct ClassModel {
    Eigen::VectorXd mean;     // [D]; empty for outputs without samples
    Eigen::VectorXd inverse;  // [D], 1 / sigma, or 0 if sigma is 0
    GeneralizedPareto quotients;
  };
  static double QuotientOf(const ClassModel& model, const Eigen::VectorXd& x, double logit);

  bool probability_;  // -P_y(gamma), not -gamma
  TiedLogitsRule::Value tied_;
  std::vector<ClassModel> classes_;  // [K]
  int64_t feature_dim_ = 0;
};

double Ghost::QuotientOf(const ClassModel& model, const Eigen::VectorXd& x, double logit) {
  const double deviations = (x - model.mean).cwiseAbs().dot(model.inverse);
  return logit / std::max(deviations, std::numeric_limits<double>::epsilon());
}

absl::Status Ghost::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  const int64_t k = train.num_outputs;
  const auto [correct, labelled] = RowsByClass(train, labels);
  std::vector<ClassModel> classes(k);
  for (int64_t c = 0; c < k; ++c) {
    if (!labelled[c]) continue;
    if (correct[c].size() < 2) {
      return absl::InvalidArgumentError(absl::StrCat("class ", c, " has ", correct[c].size(),
                                                     " correctly classified training samples; ghost needs two"));
    }
    ClassModel& model = classes[c];
    model.mean = Eigen::VectorXd::Zero(train.feature_dim);
    for (const int64_t row : correct[c]) model.mean += FeaturesOf(train, row);
    model.mean /= static_cast<double>(correct[c].size());
    Eigen::VectorXd variance = Eigen::VectorXd::Zero(train.feature_dim);
    for (const int64_t row : correct[c]) variance += (FeaturesOf(train, row) - model.mean).cwiseAbs2();
    variance /= static_cast<double>(correct[c].size() - 1);
    // A constant feature deviates only by the rounding of its mean.
    const Eigen::ArrayXd rounding = model.mean.array().abs() * 1e-12;
    model.inverse = (variance.array().sqrt() > rounding).select(variance.array().sqrt().inverse(), 0.0).matrix();
    if (!probability_) continue;
    std::vector<double> quotients;
    for (const int64_t row : correct[c]) {
      quotients.push_back(QuotientOf(model, FeaturesOf(train, row), train.logits[row * k + c]));
    }
    OPENSET_ASSIGN_OR_RETURN(model.quotients, FitGeneralizedPareto(std::move(quotients)));
  }
  classes_ = std::move(classes);
  feature_dim_ = train.feature_dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Ghost::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "ghost"));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  const int64_t k = input.num_outputs;
  if (k != static_cast<int64_t>(classes_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("ghost was fitted to ", classes_.size(), " outputs; these have ", k));
  }
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const absl::Span<const float> logits = input.logits.subspan(row * k, k);
    float largest = -std::numeric_limits<float>::infinity();
    for (int64_t c = 0; c < k; ++c) {
      if (classes_[c].mean.size() > 0) largest = std::max(largest, logits[c]);
    }
    const Eigen::VectorXd x = FeaturesOf(input, row);
    double score = std::numeric_limits<double>::infinity();
    for (int64_t c = 0; c < k; ++c) {
      if (classes_[c].mean.size() == 0 || logits[c] != largest) continue;
      const double quotient = QuotientOf(classes_[c], x, largest);
      score = std::min(score, probability_ ? -classes_[c].quotients.Cdf(quotient) : -quotient);
      if (tied_ == TiedLogitsRule::FIRST) break;
    }
    scores[row] = score;
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GhostSpec& spec) { return std::make_unique<Ghost>(spec); }

}  // namespace openset
