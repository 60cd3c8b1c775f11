#include "eval/scores/knn.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/features.h"
#include "eval/scores/row_blocks.h"

namespace openset {
namespace {

constexpr int64_t kChunk = 512;  // training samples in a product

void Normalise(Eigen::MatrixXd* columns) {
  for (int64_t j = 0; j < columns->cols(); ++j) {
    if (const double norm = columns->col(j).norm(); norm > 0) columns->col(j) /= norm;
  }
}

// The k candidates of the largest similarities, in a buffer that is cut when it is full.
class Nearest {
 public:
  using Candidate = std::pair<double, int64_t>;  // similarity, training sample

  explicit Nearest(int64_t k) : k_(k) {}

  void Add(double similarity, int64_t sample) {
    if (candidates_.size() >= k_ && similarity <= bound_) return;
    candidates_.push_back({similarity, sample});
    if (candidates_.size() >= 2 * k_ + 64) Cut();
  }

  // The k-th. Precondition: k have been added.
  int64_t Last() {
    Cut();
    return candidates_[k_ - 1].second;
  }

 private:
  void Cut() {
    std::nth_element(candidates_.begin(), candidates_.begin() + (k_ - 1), candidates_.end(), std::greater<Candidate>());
    candidates_.resize(k_);
    bound_ = candidates_[k_ - 1].first;
  }

  int64_t k_;
  double bound_ = -10;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::Status Knn::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  if (train.num_samples < k_) {
    return absl::InvalidArgumentError(
        absl::StrCat("knn with k = ", k_, " needs as many training samples; there are ", train.num_samples));
  }
  train_ =
      Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples).cast<double>();
  Normalise(&train_);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Knn::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, train_.rows(), "knn"));
  const Eigen::RowVectorXd squares = train_.colwise().squaredNorm();  // 1, or 0
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              Normalise(block);
                              std::vector<Nearest> nearest(count, Nearest(k_));
                              Eigen::MatrixXd products;
                              for (int64_t begin = 0; begin < train_.cols(); begin += kChunk) {
                                const int64_t size = std::min(kChunk, train_.cols() - begin);
                                products.noalias() = train_.middleCols(begin, size).transpose() * *block;
                                for (int64_t j = 0; j < count; ++j) {
                                  // |a - b|^2 = |a|^2 + |b|^2 - 2 a . b, where |a| is the same for all
                                  for (int64_t i = 0; i < size; ++i)
                                    nearest[j].Add(2 * products(i, j) - squares[begin + i], begin + i);
                                }
                              }
                              for (int64_t j = 0; j < count; ++j) {
                                scores[first + j] = (train_.col(nearest[j].Last()) - block->col(j)).norm();
                              }
                            });
  return scores;
}

}  // namespace openset
