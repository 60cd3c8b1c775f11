// Linear heads that are computed from features and labels, without training: logistic regression and class means.
#ifndef OPENSET_EXPERIMENTS_ARRAYS_FITTED_HEADS_H_
#define OPENSET_EXPERIMENTS_ARRAYS_FITTED_HEADS_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "models/model.pb.h"

namespace openset {

// logits = weight x + bias.
struct LinearMap {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight;  // [K, D]
  Eigen::VectorXd bias;                                                           // [K]
};

// The head that minimises LogisticRegressionSpec's sum for `features` [N, D] (row-major) and labels 0 to K - 1. For two
// classes, |W|^2 counts twice, so that the difference of the two rows is scikit-learn's single row. The same input
// gives the same bits on any number of threads. Errors: kOutOfRange if `steps` do not suffice, with what to change;
// kInvalidArgument if there is one class only. Precondition: features.size() = labels.size() * D; labels are in range.
absl::StatusOr<LinearMap> FitLogisticRegression(const LogisticRegressionSpec& spec, absl::Span<const float> features,
                                                absl::Span<const int64_t> labels, int num_classes);

// ClassMeansSpec's head. Precondition: the same; each class has a sample.
LinearMap FitClassMeans(absl::Span<const float> features, absl::Span<const int64_t> labels, int num_classes);

// The logits [N, K] of features [N, D].
std::vector<float> Logits(const LinearMap& head, absl::Span<const float> features);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ARRAYS_FITTED_HEADS_H_
