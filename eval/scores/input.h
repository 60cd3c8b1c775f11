// What scores share: checks of logits and features, loops over their rows, and the last layer.
#ifndef OPENSET_EVAL_SCORES_INPUT_H_
#define OPENSET_EVAL_SCORES_INPUT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "Eigen/Core"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "eval/scores/score.h"

namespace openset {

// ---- Checks of a model's features before a score uses them.

// OK if `input` has features of its stated shape, all finite. Errors: kInvalidArgument, with the row if a row is
// invalid.
absl::Status CheckFeatures(const ScoreInput& input);

// For Fit() of a score that uses features and no labels: calls CheckFeatures and checks that there is a sample. Errors:
// kInvalidArgument, with the row if a row is invalid.
absl::Status CheckFeatureFitInput(const ScoreInput& train);

// For Compute() of the score `name`, fitted to features of `fitted_dim` values: CheckFeatures, and the same number of
// values. Errors, in addition: kFailedPrecondition for a fitted_dim of 0, which means that the score is not fitted yet.
absl::Status CheckFeaturesLikeFitted(const ScoreInput& input, int64_t fitted_dim, absl::string_view name);

// OK if all `scores` are finite. Errors: kInvalidArgument, "the features of row 3 " and `problem`, with the first row
// that isn't.
absl::Status CheckFinite(absl::Span<const double> scores, absl::string_view problem);

// The features [D] of a row, in double. Precondition: CheckFeatures.
Eigen::VectorXd FeaturesOf(const ScoreInput& input, int64_t row);

// ---- Checks of a model's logits, and loops over their rows.

// Calls work(0), ..., work(num_rows - 1), in several threads (core/in_parallel.h) and in any order.
void ForEachRowInParallel(int64_t num_rows, const std::function<void(int64_t row)>& work);

// OK if `input` has logits of its stated shape, none of them NaN.
// Errors: kInvalidArgument, with the row if one is to blame.
absl::Status CheckLogits(const ScoreInput& input);

// OK if `train` has finite logits as for CheckLogits, and at least one sample, and `labels` has an output for each.
// Errors: kInvalidArgument, with the row if one is to blame.
absl::Status CheckFitInput(const ScoreInput& train, absl::Span<const int32_t> labels);

// The logits [K] of a row. Precondition: CheckLogits.
absl::Span<const float> LogitsOf(const ScoreInput& input, int64_t row);

// Training samples by class.
struct ClassRows {
  std::vector<std::vector<int64_t>> correct;  // [K], the correctly classified rows, ascending
  std::vector<bool> labelled;                 // [K], whether the class has any sample
};
// Precondition: CheckFitInput.
ClassRows RowsByClass(const ScoreInput& train, absl::Span<const int32_t> labels);

// For Compute() of the score `name`, fitted to `fitted_outputs` logits per sample: CheckLogits, and the same number of
// logits. Errors, in addition: kFailedPrecondition for fitted_outputs of 0, which means that the score is not fitted
// yet.
absl::Status CheckLogitsLikeFitted(const ScoreInput& input, int64_t fitted_outputs, absl::string_view name);

// Calls CheckLogits, then returns `score` of each row of logits [K]; `score` is called from several threads. Errors:
// kInvalidArgument, with the row if one is to blame, for logits that are missing or NaN, and if the score is NaN, as it
// may be for infinite logits.
absl::StatusOr<std::vector<double>> ScoreLogitRows(const ScoreInput& input,
                                                   const std::function<double(absl::Span<const float>)>& score);

// ---- Rows of features in blocks, for matrix products.

// The number of samples in a block. All blocks have this size, because the order of a sum depends on the sizes of the
// matrices: a sample thus gets the same bits regardless of the other samples. (To sum a column, use an expression or
// a copy, because the order of col(j).sum() depends on the alignment of its memory.)
inline constexpr int64_t kRowBlock = 128;

// Samples first .. first + count - 1: column j of `block` [D, kRowBlock] is row first + j; columns from `count` on are
// 0.
using RowBlockWork = std::function<void(int64_t first, int64_t count, Eigen::MatrixXd* block)>;

// Divides `rows` [N * dim] into blocks and passes them to `work` in order. `work` may change its block.
// Precondition: rows.size() is a multiple of dim >= 1.
void ForEachRowBlock(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work);

// The same, in several threads (core/in_parallel.h) and in any order.
void ForEachRowBlockInParallel(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work);

// Scales each column to length 1; zeros stay zeros. The bits of a column do not depend on the others.
void NormaliseColumns(Eigen::MatrixXd* columns);

// ---- A model's last layer, and the energy of its logits on changed features.

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

// ---- The closed-set prediction.

// [N]: the class of the largest of the first `num_classes` logits, the lowest class if several are equal. Ignores
// further outputs (a class for unknown samples).
// Errors, kInvalidArgument: no logits, fewer than `num_classes` outputs or none, NaN with its row.
absl::StatusOr<std::vector<int32_t>> ClosedSetPrediction(const ScoreInput& input, int64_t num_classes);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_INPUT_H_
