// The deviation of Gram matrices of several stages from the range of training samples (Sastry and Oore 2020).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/scores/stage_values.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// sum_s delta_s / E_s >= 0, with the deviation of stage s
//   delta_s = sum_i (max(low_i - x_i, 0) / |low_i + 1e-6| + max(x_i - high_i, 0) / |high_i + 1e-6|) / p
// over the stage's values x_i, row sums of its Gram matrices of several orders (StageValuesSpec, GRAM), where p is the
// sample's largest probability, softmax of its logits, and low_i and high_i are the least and the largest value of the
// training samples with the same predicted class (of all training samples if there is none). E_s is 1e-7 plus the mean
// deviation of held-out training samples, every tenth one, which low_i and high_i don't use. If several logits are the
// largest, the predicted class is the one with the least score.
//
// As in the authors' code (compute_minmaxs, get_deviations and detect), except that its E_s comes from a tenth of the
// known test samples. The paper doesn't mention the division by the softmax. OpenOOD and
// pytorch-ood differ: they compare the sum of a stage's values with the least and the largest of all values of the
// stage in the class's training samples, and divide by 50 instead of E_s.
class Gram : public Score {
 public:
  // Errors: also kInvalidArgument for fewer than ten samples.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  // [stages], the deviations if the class were the predicted one.
  Eigen::VectorXd Deviations(const ScoreInput& input, int64_t row, int64_t predicted) const;
  // The same for the class with the least sum of deviations / E_s.
  Eigen::VectorXd Deviations(const ScoreInput& input, int64_t row) const;

  std::vector<int64_t> widths_;
  Eigen::MatrixXd low_, high_;  // [K, V]
  Eigen::VectorXd expected_;    // [stages], E_s
};

constexpr int64_t kHeldOut = 10;  // one training sample in this many
constexpr double kEpsilon = 1e-6;
constexpr double kLeast = 1e-7;

bool IsHeldOut(int64_t row) { return row % kHeldOut == kHeldOut - 1; }

// The classes whose logits are the largest.
std::vector<int64_t> PredictedClasses(const ScoreInput& input, int64_t row) {
  const absl::Span<const float> logits = LogitsOf(input, row);
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<int64_t> classes;
  for (size_t c = 0; c < logits.size(); ++c) {
    if (logits[c] == largest) classes.push_back(static_cast<int64_t>(c));
  }
  return classes;
}

absl::Status Gram::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckStageValues(train));
  if (train.num_samples < kHeldOut) return absl::InvalidArgumentError("gram needs ten training samples or more");
  const int64_t width = static_cast<int64_t>(train.stage_values.size()) / train.num_samples;
  const double infinity = std::numeric_limits<double>::infinity();
  // The last row is for all classes.
  Eigen::MatrixXd low = Eigen::MatrixXd::Constant(train.num_outputs + 1, width, infinity);
  Eigen::MatrixXd high = -low;
  const auto extend = [&](int64_t at, int64_t row) {
    for (int64_t i = 0; i < width; ++i) {
      const double value = train.stage_values[row * width + i];
      low(at, i) = std::min(low(at, i), value);
      high(at, i) = std::max(high(at, i), value);
    }
  };
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (IsHeldOut(row)) continue;
    for (const int64_t predicted : PredictedClasses(train, row)) extend(predicted, row);
    extend(train.num_outputs, row);
  }
  for (int64_t c = 0; c < train.num_outputs; ++c) {
    if (low(c, 0) < infinity) continue;
    low.row(c) = low.row(train.num_outputs);
    high.row(c) = high.row(train.num_outputs);
  }
  low_ = low.topRows(train.num_outputs);
  high_ = high.topRows(train.num_outputs);
  widths_.assign(train.stage_widths.begin(), train.stage_widths.end());
  expected_ = Eigen::VectorXd::Ones(static_cast<int64_t>(widths_.size()));
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(expected_.size());
  for (int64_t row = kHeldOut - 1; row < train.num_samples; row += kHeldOut) sum += Deviations(train, row);
  const double held_out = static_cast<double>(train.num_samples / kHeldOut);
  expected_ = sum.array() / held_out + kLeast;
  return absl::OkStatus();
}

Eigen::VectorXd Gram::Deviations(const ScoreInput& input, int64_t row, int64_t predicted) const {
  Eigen::VectorXd deviations = Eigen::VectorXd::Zero(static_cast<int64_t>(widths_.size()));
  int64_t i = 0;
  for (size_t s = 0; s < widths_.size(); ++s) {
    for (const int64_t end = i + widths_[s]; i < end; ++i) {
      const double value = input.stage_values[row * low_.cols() + i];
      const double low = low_(predicted, i), high = high_(predicted, i);
      deviations(s) += std::max(low - value, 0.0) / std::abs(low + kEpsilon);
      deviations(s) += std::max(value - high, 0.0) / std::abs(high + kEpsilon);
    }
  }
  return deviations * (1 + SumSoftmax(LogitsOf(input, row)).rest);
}

Eigen::VectorXd Gram::Deviations(const ScoreInput& input, int64_t row) const {
  Eigen::VectorXd least;
  double least_sum = std::numeric_limits<double>::infinity();
  for (const int64_t predicted : PredictedClasses(input, row)) {
    Eigen::VectorXd deviations = Deviations(input, row, predicted);
    const double sum = (deviations.array() / expected_.array()).sum();
    if (least.size() > 0 && sum >= least_sum) continue;
    least_sum = sum;
    least = std::move(deviations);
  }
  return least;
}

absl::StatusOr<std::vector<double>> Gram::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, low_.rows(), "gram"));
  OPENSET_RETURN_IF_ERROR(CheckStageValuesLikeFitted(input, widths_, "gram"));
  std::vector<double> scores(input.num_samples);
  for (int64_t row = 0; row < input.num_samples; ++row) {
    scores[row] = (Deviations(input, row).array() / expected_.array()).sum();
  }
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GramSpec&) { return std::make_unique<Gram>(); }

}  // namespace openset
