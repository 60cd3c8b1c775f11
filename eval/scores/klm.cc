// KL matching (Hendrycks et al. 2022).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// min_k sum_c p_c log(p_c / d_kc) >= 0, in nats, for p = softmax(z) and d_k the mean p of the training samples whose
// largest logit is the k-th; classes without such samples are ignored (in OpenOOD, they get the one-hot distribution of
// k, from which any other is infinitely far). Doesn't change if a constant is added to all logits.
class Klm : public Score {
 public:
  // Ignores labels.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Eigen::MatrixXd log_mean_;  // [K, classes that are predicted]
};

absl::Status Klm::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  // Any labels will do.
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, std::vector<int32_t>(train.num_samples, 0)));
  const int64_t k = train.num_outputs;
  // For each class, the sum of p / exp(largest logarithm of p so far), which does not underflow.
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(k, k);
  Eigen::MatrixXd largest = Eigen::MatrixXd::Constant(k, k, -std::numeric_limits<double>::infinity());
  Eigen::VectorXd count = Eigen::VectorXd::Zero(k);
  std::vector<std::vector<int64_t>> rows(k);  // by the most likely class, ascending
  for (int64_t row = 0; row < train.num_samples; ++row) rows[ArgMax(LogitsOf(train, row))].push_back(row);
  InParallel(k, [&](int64_t likeliest) {
    count[likeliest] = static_cast<double>(rows[likeliest].size());
    for (const int64_t row : rows[likeliest]) {
      const absl::Span<const float> logits = LogitsOf(train, row);
      const SoftmaxSum softmax = SumSoftmax(logits);
      const double log_sum = std::log1p(softmax.rest);
      for (int64_t c = 0; c < k; ++c) {
        const double log_p = logits[c] - softmax.max - log_sum;
        double& top = largest(c, likeliest);
        double& total = sum(c, likeliest);
        if (log_p > top) {
          total *= std::exp(top - log_p);
          top = log_p;
        }
        total += std::exp(log_p - top);
      }
    }
  });
  log_mean_.resize(k, (count.array() > 0).count());
  int64_t column = 0;
  for (int64_t c = 0; c < k; ++c) {
    if (count[c] == 0) continue;
    log_mean_.col(column++) = (sum.col(c).array() / count[c]).log() + largest.col(c).array();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Klm::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, log_mean_.rows(), "klm"));
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const SoftmaxSum softmax = SumSoftmax(logits);
    const double log_sum = std::log1p(softmax.rest);
    std::vector<double> log_p(logits.size()), p(logits.size());
    for (size_t c = 0; c < logits.size(); ++c) {
      log_p[c] = logits[c] - softmax.max - log_sum;
      p[c] = std::exp(log_p[c]);
    }
    double nearest = std::numeric_limits<double>::infinity();
    for (int64_t mean = 0; mean < log_mean_.cols(); ++mean) {
      double divergence = 0;
      for (int64_t c = 0; c < log_mean_.rows(); ++c) {
        if (p[c] > 0) divergence += p[c] * (log_p[c] - log_mean_(c, mean));
      }
      nearest = std::min(nearest, divergence);
    }
    return std::max(nearest, 0.0);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const KlmSpec&) { return std::make_unique<Klm>(); }

}  // namespace openset
