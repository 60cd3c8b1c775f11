// GROOD: the distance of a nearest-centroid loss's gradient from the training samples' gradients (ElAraby et al. 2023).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// min_i |g(x) - g(x_i)|^2 in [0, 4] for features x [D] and those x_i of the correctly classified training samples,
// where g is the gradient of the cross entropy of softmax(-|x - m_1|, ..., -|x - m_K|, -|x - o|) with respect to o: in
// closed form, g(x) = q (x - o) / |x - o| (0 at o) for any label, where q is the last of these probabilities. m_c are
// the classes' mean features; o, which represents the unknown, is the mean of m_c. This is OpenOOD's use_proto_mean;
// its default computes o from unknown validation images, and the paper from mixtures in an early layer. OpenOOD
// searches a part of the training samples (an IVF index); this searches all.
class Grood : public Score {
 public:
  // Errors: also kInvalidArgument if no sample is classified correctly.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // Replaces each column of `features` by its g.
  void ToGradients(Eigen::MatrixXd* features) const;

  Eigen::MatrixXd means_;      // [D, classes]
  Eigen::VectorXd unknown_;    // [D], o
  Eigen::MatrixXd gradients_;  // [D, correctly classified samples]
  Eigen::VectorXd squares_;    // of the lengths of their columns
};

constexpr int64_t kChunk = 512;  // training samples in a product

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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GroodSpec&) { return std::make_unique<Grood>(); }

}  // namespace openset
