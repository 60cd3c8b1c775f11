#include "eval/scores/gradients/grood.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {
namespace {

constexpr int64_t kChunk = 512;  // training samples in a product

}  // namespace

void Grood::ToGradients(Eigen::MatrixXd* features) const {
  for (int64_t j = 0; j < features->cols(); ++j) {
    Eigen::VectorXd from_unknown = features->col(j) - unknown_;
    const double length = from_unknown.norm();
    double others = 0;  // sum over the classes of exp(|x - o| - |x - m_c|)
    for (int64_t c = 0; c < means_.cols(); ++c) {
      others += std::exp(length - Eigen::VectorXd(features->col(j) - means_.col(c)).norm());
    }
    if (length > 0) from_unknown /= length;
    features->col(j) = from_unknown / (1 + others);
  }
}

absl::Status Grood::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  std::vector<int64_t> correct;
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (ArgMax(LogitsOf(train, row)) == labels[row]) correct.push_back(row);
  }
  if (correct.empty()) {
    return absl::InvalidArgumentError("grood needs training samples that are classified correctly; there are none");
  }
  std::vector<Eigen::VectorXd> means = ClassMeans(train.features, train.feature_dim, labels, train.num_outputs);
  means.erase(std::remove_if(means.begin(), means.end(), [](const Eigen::VectorXd& mean) { return mean.size() == 0; }),
              means.end());
  means_.resize(train.feature_dim, means.size());
  for (size_t c = 0; c < means.size(); ++c) means_.col(c) = means[c];
  unknown_ = means_.rowwise().mean();
  gradients_.resize(train.feature_dim, correct.size());
  ForEachRowInParallel(correct.size(), [&](int64_t i) {
    Eigen::MatrixXd x = FeaturesOf(train, correct[i]);
    ToGradients(&x);
    gradients_.col(i) = x;
  });
  squares_ = gradients_.colwise().squaredNorm();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Grood::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, gradients_.rows(), "grood"));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        ToGradients(block);
        // The nearest by |b|^2 - 2 a . b, and then its distance without cancellation.
        std::vector<int64_t> nearest(count, 0);
        std::vector<double> least(count, std::numeric_limits<double>::infinity());
        for (int64_t begin = 0; begin < gradients_.cols(); begin += kChunk) {
          const int64_t size = std::min(kChunk, gradients_.cols() - begin);
          const Eigen::MatrixXd products = gradients_.middleCols(begin, size).transpose() * *block;
          for (int64_t j = 0; j < count; ++j) {
            for (int64_t i = 0; i < size; ++i) {
              const double distance = squares_[begin + i] - 2 * products(i, j);
              if (distance >= least[j]) continue;
              least[j] = distance;
              nearest[j] = begin + i;
            }
          }
        }
        for (int64_t j = 0; j < count; ++j) {
          scores[first + j] = Eigen::VectorXd(gradients_.col(nearest[j]) - block->col(j)).squaredNorm();
        }
      });
  return scores;
}

}  // namespace openset
