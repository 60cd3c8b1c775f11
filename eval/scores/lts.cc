// LTS: energy of logits that are scaled by the share of the largest features (Djurisic et al. 2024).
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/activation_ratio.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c exp(S z_c) of z = W x + b, for features x [D] and the head W [K, D], b [K] of the outputs: S is the square
// of ActivationRatio of max(x, 0) and its D - round(D percentile / 100) largest. (The maximum is the released code's;
// the paper's networks have no negative features.) A sample without positive features has S = 0, so -log K, where the
// released code divides 0 by 0.
class Lts : public Score {
 public:
  // Precondition: 0 <= percentile <= 100.
  explicit Lts(double percentile) : percentile_(percentile) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double percentile_;
};

absl::StatusOr<std::vector<double>> Lts::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  const int64_t keep = NumKept(input.feature_dim, percentile_);
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
                              for (int64_t j = 0; j < count; ++j) {
                                const double ratio = ActivationRatio(Eigen::VectorXd(block->col(j).cwiseMax(0)), keep);
                                logits.col(j) *= ratio * ratio;
                                scores[first + j] = -LogSumExp(logits.col(j));
                              }
                            });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const LtsSpec& spec) { return std::make_unique<Lts>(spec.percentile()); }

}  // namespace openset
