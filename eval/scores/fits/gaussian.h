// Class means and covariances of features, for Mahalanobis distances.
#ifndef OPENSET_EVAL_SCORES_FITS_GAUSSIAN_H_
#define OPENSET_EVAL_SCORES_FITS_GAUSSIAN_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

// ---- The features of each class, for fits of one class at a time.

struct FeaturesOfClass {
  int32_t label = 0;
  std::vector<float> features;  // [n, D], in the order of the samples
};

// One for each label that occurs, ascending. Errors: kInvalidArgument if a matrix [D, D] of doubles for each of them
// would need more than 4 GiB. Preconditions: CheckFitInput and CheckFeatures.
absl::StatusOr<std::vector<FeaturesOfClass>> FeaturesByClass(const ScoreInput& train, absl::Span<const int32_t> labels);

// ---- Class means and covariances of features, for Mahalanobis distances.

// How each row is preprocessed; zeros stay zeros.
enum class RowScale {
  kAsIs,
  kUnitLength,
};

// Means [D] of the rows of `features` [N * dim] by label; empty vectors for labels without a row. Skips rows with a
// negative label. Precondition: labels [N] are below `num_classes`.
std::vector<Eigen::VectorXd> ClassMeans(absl::Span<const float> features, int64_t dim, absl::Span<const int32_t> labels,
                                        int64_t num_classes, RowScale scale = RowScale::kAsIs);

// The same of the samples whose label has the largest logit (the first of equal ones); `rows` [N * dim] are theirs.
// Errors: kInvalidArgument, with the class, for a label of which no sample is classified correctly. Precondition:
// CheckFitInput.
absl::StatusOr<std::vector<Eigen::VectorXd>> MeansOfCorrect(absl::Span<const float> rows, int64_t dim,
                                                            const ScoreInput& train, absl::Span<const int32_t> labels);

// The mean [D] of all rows. Precondition: there is at least one row.
Eigen::VectorXd Mean(absl::Span<const float> features, int64_t dim, RowScale scale = RowScale::kAsIs);

// The covariance around class means: (1/N) sum_i (x_i - centre[label_i]) (x_i - centre[label_i])^T, [D, D].
// Precondition: every label has a centre.
Eigen::MatrixXd Covariance(absl::Span<const float> features, absl::Span<const int32_t> labels,
                           const std::vector<Eigen::VectorXd>& centres, RowScale scale = RowScale::kAsIs);
// The same around one centre.
Eigen::MatrixXd CovarianceAbout(absl::Span<const float> features, const Eigen::VectorXd& centre,
                                RowScale scale = RowScale::kAsIs);

// W [rank, D] with W^T W the pseudo-inverse of `covariance`: |W (x - m)|^2 is the squared Mahalanobis distance.
// Directions whose variance is at most D 2^-52 times the largest are treated as constant and ignored.
// Errors: kInvalidArgument if there is no variance at all.
absl::StatusOr<Eigen::MatrixXd> Whitening(const Eigen::MatrixXd& covariance);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_FITS_GAUSSIAN_H_
