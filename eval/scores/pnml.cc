// pNML: the regret of the last layer's predictive normalised maximum likelihood (Bibas et al. 2021).
#include <cmath>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// log(sum_c p_c / (p_c + (1 - p_c) p_c^g)) / log K in [0, 1], for u = x / |x| of features x [D] (zeros stay zeros),
// p = softmax(W u + b) [K] of the head W, b of the outputs, and g = q / (1 + q) with q = u^T (U^T U)^+ u >= 0, where
// the rows of U are the training samples' u. Directions with almost no variance are ignored (Whitening,
// fits/gaussian.h). 0 for one output.
class Pnml : public Score {
 public:
  // Ignores labels. Errors: also kInvalidArgument if all features are 0.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Eigen::MatrixXd whitening_;  // [r, D], q = |whitening_ u|^2
};

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const PnmlSpec&) { return std::make_unique<Pnml>(); }

}  // namespace openset
