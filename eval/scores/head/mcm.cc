#include "eval/scores/head/mcm.h"

#include <cmath>

#include "core/status_macros.h"
#include "eval/scores/input.h"

namespace openset {

absl::StatusOr<std::vector<double>> Mcm::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  Eigen::MatrixXd texts = head.weight.transpose();
  NormaliseColumns(&texts);
  const Eigen::MatrixXd directions = texts.transpose() / temperature_;
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              NormaliseColumns(block);
                              const Eigen::MatrixXd logits = directions * *block;
                              for (int64_t j = 0; j < count; ++j) {
                                const Eigen::VectorXd z = logits.col(j);
                                scores[first + j] = -std::exp(z.maxCoeff() - LogSumExp(z));
                              }
                            });
  return scores;
}

}  // namespace openset
