// NNGuide: energy guided by the nearest training samples (Park et al. 2023).
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// -e(z) times the mean of the k largest e(z_i) cos(x, x_i) over kept training samples i, for logits z, features x [D]
// and e(z) = log sum_c exp(z_c). The cosine with features that are all 0 is 0. (The released code returns the negative,
// a confidence; OpenOOD adds 1e-10 to the normalised features.) Exhaustive.
class Nnguide : public Score {
 public:
  // Fit() keeps ceil(share * N) of N training samples, but at least k, drawn by their indices in the training outputs.
  // If share is 1, it keeps all in their order.
  explicit Nnguide(const NnguideSpec& spec) : k_(spec.k()), share_(spec.share()) {}

  // Ignores labels. Errors: also kInvalidArgument for fewer than k samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t k_;
  double share_;
  Eigen::MatrixXd guides_;  // [D, kept samples], e(z_i) x_i / |x_i|
};

constexpr int64_t kGuidesAtOnce = 512;  // training samples in a product

double LogSumExp(absl::Span<const float> logits) {
  const SoftmaxSum sum = SumSoftmax(logits);
  return sum.max + std::log1p(sum.rest);
}

Eigen::VectorXd Normalised(const Eigen::VectorXd& x) {
  const double norm = x.norm();
  return norm > 0 ? Eigen::VectorXd(x / norm) : x;
}

// Draws `count` of 0 .. total - 1, in any order.
std::vector<int64_t> Chosen(int64_t count, int64_t total) {
  if (count < total) return RandomStream(0, "nnguide").Permutation(total);
  std::vector<int64_t> all(total);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The mean of the k largest values, which may come in any order.
class LargestMean {
 public:
  explicit LargestMean(int64_t k) : k_(k) {}

  void Add(double value) {
    if (static_cast<int64_t>(largest_.size()) == k_) {
      if (value <= largest_[0]) return;
      std::pop_heap(largest_.begin(), largest_.end(), std::greater<double>());
      largest_.pop_back();
    }
    largest_.push_back(value);
    std::push_heap(largest_.begin(), largest_.end(), std::greater<double>());
  }

  double Get() {
    std::sort(largest_.begin(), largest_.end());
    return std::accumulate(largest_.begin(), largest_.end(), 0.0) / static_cast<double>(k_);
  }

 private:
  int64_t k_;
  std::vector<double> largest_;  // a heap with the smallest on top
};

absl::Status Nnguide::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  if (train.num_samples < k_) {
    return absl::InvalidArgumentError(
        absl::StrCat("k = ", k_, " needs as many training samples; there are ", train.num_samples));
  }
  const int64_t kept = std::max(k_, static_cast<int64_t>(std::ceil(share_ * static_cast<double>(train.num_samples))));
  const std::vector<int64_t> rows = Chosen(kept, train.num_samples);
  guides_.resize(train.feature_dim, kept);
  for (int64_t i = 0; i < kept; ++i) {
    const double energy = LogSumExp(LogitsOf(train, rows[i]));
    if (!std::isfinite(energy)) {
      return absl::InvalidArgumentError(absl::StrCat("logits are not finite in row ", rows[i]));
    }
    guides_.col(i) = energy * Normalised(FeaturesOf(train, rows[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Nnguide::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, guides_.rows(), "nnguide"));
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              for (int64_t j = 0; j < count; ++j) block->col(j) = Normalised(block->col(j));
                              std::vector<LargestMean> guidance(count, LargestMean(k_));
                              for (int64_t begin = 0; begin < guides_.cols(); begin += kGuidesAtOnce) {
                                const int64_t size = std::min(kGuidesAtOnce, guides_.cols() - begin);
                                const Eigen::MatrixXd products = guides_.middleCols(begin, size).transpose() * *block;
                                for (int64_t j = 0; j < count; ++j) {
                                  for (int64_t i = 0; i < size; ++i) guidance[j].Add(products(i, j));
                                }
                              }
                              for (int64_t j = 0; j < count; ++j) {
                                scores[first + j] = -LogSumExp(LogitsOf(input, first + j)) * guidance[j].Get();
                              }
                            });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NnguideSpec& spec) { return std::make_unique<Nnguide>(spec); }

}  // namespace openset
