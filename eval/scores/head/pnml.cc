#include "eval/scores/head/pnml.h"

#include <cmath>

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"

namespace openset {
namespace {

// The score of logits [K] and g.
double RegretOf(const Eigen::VectorXd& logits, double g) {
  if (logits.size() == 1) return 0;
  int64_t largest = 0;
  const double max = logits.maxCoeff(&largest);
  double rest = 0;  // sum over the others of exp(z_c - max)
  for (int64_t c = 0; c < logits.size(); ++c) rest += c == largest ? 0 : std::exp(logits[c] - max);
  double sum = 0;
  for (int64_t c = 0; c < logits.size(); ++c) {
    const double log_p = logits[c] - max - std::log1p(rest);
    // 1 - p_c without cancellation.
    const double others = c == largest ? rest / (1 + rest) : -std::expm1(log_p);
    sum += 1 / (1 + others * std::exp((g - 1) * log_p));
  }
  return std::log(sum) / std::log(static_cast<double>(logits.size()));
}

}  // namespace

absl::Status Pnml::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(train.feature_dim);
  OPENSET_ASSIGN_OR_RETURN(whitening_, Whitening(CovarianceAbout(train.features, origin, RowScale::kUnitLength)));
  whitening_ /= std::sqrt(static_cast<double>(train.num_samples));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Pnml::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, whitening_.cols(), "pnml"));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              NormaliseColumns(block);
                              const Eigen::MatrixXd white = whitening_ * *block;
                              const Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
                              for (int64_t j = 0; j < count; ++j) {
                                const double q = Eigen::VectorXd(white.col(j)).squaredNorm();
                                scores[first + j] = RegretOf(logits.col(j), q / (1 + q));
                              }
                            });
  return scores;
}

}  // namespace openset
