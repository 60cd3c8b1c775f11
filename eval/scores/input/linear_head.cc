#include "eval/scores/input/linear_head.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "eval/scores/input/row_blocks.h"

namespace openset {

absl::StatusOr<LinearHead> HeadOf(const ScoreInput& input) {
  const int64_t k = input.num_outputs;
  const int64_t d = input.feature_dim;
  if (input.head_weight.empty()) {
    return absl::InvalidArgumentError(
        "the score needs the weights of a linear head (head_weight), which the outputs "
        "lack");
  }
  if (k < 1 || d < 1 || input.head_weight.size() != k * d) {
    return absl::InvalidArgumentError(
        absl::StrCat("head_weight has ", input.head_weight.size(), " values for ", k, " outputs and ", d, " features"));
  }
  if (!input.head_bias.empty() && input.head_bias.size() != k) {
    return absl::InvalidArgumentError(
        absl::StrCat("head_bias has ", input.head_bias.size(), " values for ", k, " outputs"));
  }
  LinearHead head;
  head.weight = Eigen::Map<const Eigen::MatrixXf>(input.head_weight.data(), d, k).transpose().cast<double>();
  head.bias = Eigen::VectorXd::Zero(k);
  if (!input.head_bias.empty()) {
    head.bias = Eigen::Map<const Eigen::VectorXf>(input.head_bias.data(), k).cast<double>();
  }
  if (!head.weight.allFinite()) return absl::InvalidArgumentError("head_weight is not finite");
  if (!head.bias.allFinite()) return absl::InvalidArgumentError("head_bias is not finite");
  return head;
}

double LogSumExp(const Eigen::Ref<const Eigen::VectorXd>& z) {
  const double max = z.maxCoeff();
  return max + std::log((z.array() - max).exp().sum());
}

std::vector<double> HeadEnergy(const ScoreInput& input, const LinearHead& head,
                               const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& change) {
  std::vector<double> energy(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              for (int64_t j = 0; j < count; ++j) change(block->col(j));
                              const Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
                              for (int64_t j = 0; j < count; ++j) energy[first + j] = -LogSumExp(logits.col(j));
                            });
  return energy;
}

}  // namespace openset
