// Distance to the k-th nearest training sample (Sun et al. 2022).
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/float_panels.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// The Euclidean distance, in [0, 2], of x / |x| to the k-th nearest x_i / |x_i| of the training features. Zeros stay
// zeros. (The released code adds 1e-10 to |x|, and OpenOOD returns the squared distance: the same order.) Exhaustive:
// finds candidates with N * (training samples) * D multiplications in float, and computes their distances in double.
class Knn : public Score {
 public:
  // Precondition: k >= 1.
  explicit Knn(int64_t k) : k_(k) {}

  // Ignores labels. Errors: also kInvalidArgument for fewer than k samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  int64_t k_;
  Eigen::MatrixXf train_;  // [D, training samples]
  Eigen::VectorXd scale_;  // 1 / length of a column; 0 for zeros
  // The columns of train_ * scale_, each with the negative half of its squared length below it.
  FloatPanels unit_;
};

// The candidates for the k-th largest similarity, if similarities are known up to `error`.
class Candidates {
 public:
  Candidates(int64_t k, float error) : k_(k), error_(error), full_(2 * k + 64) {}

  // Similarities below it are not candidates.
  float bound() const { return bound_; }

  void Add(float similarity, int64_t sample) {
    if (similarity < bound_) return;
    candidates_.push_back({similarity, sample});
    if (candidates_.size() >= full_) Cut();
  }

  // All samples that may be the k-th, which is the `rank`-th (from 1) of them. Precondition: k have been added.
  std::vector<int64_t> Last(int64_t* rank) {
    Cut();
    const float surely_larger = kth_ + 2 * error_;
    std::vector<int64_t> samples;
    for (const auto& [similarity, sample] : candidates_) {
      if (similarity <= surely_larger) samples.push_back(sample);
    }
    *rank = k_ - static_cast<int64_t>(candidates_.size() - samples.size());
    return samples;
  }

 private:
  // Drops what is below the k-th by more than the error of both.
  void Cut() {
    const auto kth = candidates_.begin() + (k_ - 1);
    std::nth_element(candidates_.begin(), kth, candidates_.end(), std::greater<std::pair<float, int64_t>>());
    kth_ = kth->first;
    bound_ = kth_ - 2 * error_;
    candidates_.erase(std::remove_if(kth, candidates_.end(), [this](const auto& c) { return c.first < bound_; }),
                      candidates_.end());
    full_ = 2 * candidates_.size() + 64;
  }

  int64_t k_;
  float error_;
  size_t full_;
  float kth_ = 0;
  float bound_ = -std::numeric_limits<float>::infinity();
  std::vector<std::pair<float, int64_t>> candidates_;
};

absl::Status Knn::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  if (train.num_samples < k_) {
    return absl::InvalidArgumentError(
        absl::StrCat("k = ", k_, " needs as many training samples; there are ", train.num_samples));
  }
  train_ = Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples);
  scale_.resize(train.num_samples);
  Eigen::MatrixXf unit(train.feature_dim + 1, train.num_samples);
  ForEachRowInParallel(train.num_samples, [&](int64_t i) {
    const Eigen::VectorXd x = train_.col(i).cast<double>();
    const double norm = x.norm();
    scale_[i] = norm > 0 ? 1 / norm : 0;
    unit.col(i) << (x * scale_[i]).cast<float>(), norm > 0 ? -0.5f : 0.0f;
  });
  unit_ = FloatPanels(unit);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Knn::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, train_.rows(), "knn"));
  // |a - b|^2 = |a|^2 - 2 (a . b - |b|^2 / 2), where |a| is the same for all b. The parenthesis, in float, is off by at
  // most twice the error of a sum of D + 1 floats and of the rounding of a and b; doubles decide among those too close.
  const float error = (input.feature_dim + 8) * std::numeric_limits<float>::epsilon();
  const int64_t num_train = train_.cols();
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        NormaliseColumns(block);
        Eigen::MatrixXf queries(block->rows() + 1, block->cols());
        queries << block->cast<float>(), Eigen::RowVectorXf::Ones(block->cols());
        std::vector<Candidates> nearest(count, Candidates(k_, error));
        std::array<float, kRowBlock> bounds;
        std::array<bool, kRowBlock> is_above;
        std::vector<float> products(kRowBlock * FloatPanels::kWidth);
        bounds.fill(std::numeric_limits<float>::infinity());
        for (int64_t p = 0; p < unit_.num_panels(); ++p) {
          for (int64_t j = 0; j < count; ++j) bounds[j] = nearest[j].bound();
          unit_.Multiply(p, queries, bounds.data(), products.data(), is_above.data());
          const int64_t begin = p * FloatPanels::kWidth;
          const int64_t size = std::min(FloatPanels::kWidth, num_train - begin);
          for (int64_t j = 0; j < count; ++j) {
            if (!is_above[j]) continue;
            for (int64_t i = 0; i < size; ++i) nearest[j].Add(products[j * FloatPanels::kWidth + i], begin + i);
          }
        }
        for (int64_t j = 0; j < count; ++j) {
          int64_t rank = 0;
          std::vector<double> distances;
          for (const int64_t i : nearest[j].Last(&rank)) {
            distances.push_back((train_.col(i).cast<double>() * scale_[i] - block->col(j)).norm());
          }
          std::nth_element(distances.begin(), distances.begin() + (rank - 1), distances.end());
          scores[first + j] = distances[rank - 1];
        }
      });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const KnnSpec& spec) { return std::make_unique<Knn>(spec.k()); }

}  // namespace openset
