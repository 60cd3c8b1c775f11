// A model's last layer, and the energy of its logits on changed features.
#ifndef OPENSET_EVAL_SCORES_INPUT_LINEAR_HEAD_H_
#define OPENSET_EVAL_SCORES_INPUT_LINEAR_HEAD_H_

#include <functional>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "eval/scores/score.h"

namespace openset {

// z = weight x + bias.
struct LinearHead {
  Eigen::MatrixXd weight;  // [K, D]
  Eigen::VectorXd bias;    // [K], 0 for a head without one
};

// The head of `input`, in double. An empty head_bias is a head without bias.
// Errors: kInvalidArgument if there is no head_weight, a shape is wrong or a value is not finite.
absl::StatusOr<LinearHead> HeadOf(const ScoreInput& input);

// log sum_c exp(z_c), without overflow. Precondition: not empty.
double LogSumExp(const Eigen::Ref<const Eigen::VectorXd>& z);

// -log sum_c exp(z_c), z the head's logits of each row's features after `change` (on several threads).
// Preconditions: CheckFeatures, and a head for input.feature_dim.
std::vector<double> HeadEnergy(const ScoreInput& input, const LinearHead& head,
                               const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& change);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_INPUT_LINEAR_HEAD_H_
