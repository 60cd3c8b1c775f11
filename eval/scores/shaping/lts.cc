#include "eval/scores/shaping/lts.h"

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/shaping/activation_ratio.h"

namespace openset {

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

}  // namespace openset
