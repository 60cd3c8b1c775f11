#include "eval/scores/input.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/softmax.h"

namespace openset {

absl::Status CheckFeatures(const ScoreInput& input) {
  if (input.features.empty() && input.num_samples > 0) {
    return absl::InvalidArgumentError("the score needs features, which the outputs lack");
  }
  if (input.feature_dim < 1) {
    return absl::InvalidArgumentError(absl::StrCat("feature_dim must be at least 1 (is ", input.feature_dim, ")"));
  }
  if (input.features.size() != input.num_samples * input.feature_dim) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", input.features.size(), " features for ",
                                                   input.num_samples, " samples of ", input.feature_dim));
  }
  for (int64_t i = 0; i < input.features.size(); ++i) {
    if (!std::isfinite(input.features[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("features are not finite in row ", i / input.feature_dim, ", feature ", i % input.feature_dim));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFeatureFitInput(const ScoreInput& train) {
  if (train.num_samples == 0) return absl::InvalidArgumentError("there are no samples to fit the score to");
  return CheckFeatures(train);
}

absl::Status CheckFeaturesLikeFitted(const ScoreInput& input, int64_t fitted_dim, absl::string_view name) {
  if (fitted_dim == 0) return absl::FailedPreconditionError(absl::StrCat(name, " must be fitted before it can score"));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  if (input.feature_dim != fitted_dim) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " was fitted to ", fitted_dim, " features; these outputs have ", input.feature_dim));
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(absl::Span<const double> scores, absl::string_view problem) {
  for (size_t row = 0; row < scores.size(); ++row) {
    if (!std::isfinite(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("the features of row ", row, " ", problem));
    }
  }
  return absl::OkStatus();
}

Eigen::VectorXd FeaturesOf(const ScoreInput& input, int64_t row) {
  return Eigen::Map<const Eigen::VectorXf>(input.features.data() + row * input.feature_dim, input.feature_dim)
      .cast<double>();
}

namespace {

constexpr int64_t kRowsATurn = 512;

}  // namespace

void ForEachRowInParallel(int64_t num_rows, const std::function<void(int64_t row)>& work) {
  InParallelRanges(num_rows, kRowsATurn, [&work](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) work(row);
  });
}

absl::Status CheckLogits(const ScoreInput& input) {
  if (input.logits.empty() && input.num_samples > 0) return absl::InvalidArgumentError("the score needs logits");
  if (input.num_outputs < 1) {
    return absl::InvalidArgumentError(absl::StrCat("num_outputs must be at least 1 (is ", input.num_outputs, ")"));
  }
  if (input.logits.size() != input.num_samples * input.num_outputs) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", input.logits.size(), " logits for ", input.num_samples,
                                                   " samples of ", input.num_outputs, " outputs"));
  }
  for (int64_t i = 0; i < input.logits.size(); ++i) {
    if (std::isnan(input.logits[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("logits are NaN in row ", i / input.num_outputs, ", output ", i % input.num_outputs));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFitInput(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(train));
  if (train.num_samples == 0) return absl::InvalidArgumentError("there are no samples to fit the score to");
  if (labels.size() != train.num_samples) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", labels.size(), " labels for ", train.num_samples, " samples"));
  }
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (labels[row] < 0 || labels[row] >= train.num_outputs) {
      return absl::InvalidArgumentError(
          absl::StrCat("label is ", labels[row], " in row ", row, "; it must lie in 0 .. ", train.num_outputs - 1));
    }
    for (int64_t c = 0; c < train.num_outputs; ++c) {
      if (!std::isfinite(train.logits[row * train.num_outputs + c])) {
        return absl::InvalidArgumentError(absl::StrCat("logits are not finite in row ", row, ", output ", c));
      }
    }
  }
  return absl::OkStatus();
}

absl::Span<const float> LogitsOf(const ScoreInput& input, int64_t row) {
  return input.logits.subspan(row * input.num_outputs, input.num_outputs);
}

ClassRows RowsByClass(const ScoreInput& train, absl::Span<const int32_t> labels) {
  const int64_t k = train.num_outputs;
  ClassRows rows{std::vector<std::vector<int64_t>>(k), std::vector<bool>(k, false)};
  for (int64_t row = 0; row < train.num_samples; ++row) {
    const int32_t label = labels[row];
    rows.labelled[label] = true;
    if (ArgMax(LogitsOf(train, row)) == label) rows.correct[label].push_back(row);
  }
  return rows;
}

absl::Status CheckLogitsLikeFitted(const ScoreInput& input, int64_t fitted_outputs, absl::string_view name) {
  if (fitted_outputs == 0) {
    return absl::FailedPreconditionError(absl::StrCat(name, " must be fitted before it can score"));
  }
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  if (input.num_outputs != fitted_outputs) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " was fitted to ", fitted_outputs, " logits; these outputs have ", input.num_outputs));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ScoreLogitRows(const ScoreInput& input,
                                                   const std::function<double(absl::Span<const float>)>& score) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) { scores[row] = score(LogitsOf(input, row)); });
  for (int64_t row = 0; row < input.num_samples; ++row) {
    if (std::isnan(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("the score is NaN in row ", row, ": its logits are infinite"));
    }
  }
  return scores;
}

namespace {

constexpr int64_t kBlocksATurn = 4;

// Eigen splits long sums by the cache sizes. With a fixed size, all machines add in the same order.
const bool cache_sizes_set = [] {
  Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
  return true;
}();

// Copies block `index` to `block`.
void Work(absl::Span<const float> rows, int64_t dim, int64_t index, const RowBlockWork& work, Eigen::MatrixXd* block) {
  const int64_t first = index * kRowBlock;
  const int64_t count = std::min(kRowBlock, static_cast<int64_t>(rows.size()) / dim - first);
  block->setZero(dim, kRowBlock);
  block->leftCols(count) = Eigen::Map<const Eigen::MatrixXf>(rows.data() + first * dim, dim, count).cast<double>();
  work(first, count, block);
}

int64_t NumBlocks(absl::Span<const float> rows, int64_t dim) {
  return (static_cast<int64_t>(rows.size()) / dim + kRowBlock - 1) / kRowBlock;
}

}  // namespace

void ForEachRowBlock(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) {
  Eigen::MatrixXd block;
  for (int64_t i = 0; i < NumBlocks(rows, dim); ++i) Work(rows, dim, i, work, &block);
}

void ForEachRowBlockInParallel(absl::Span<const float> rows, int64_t dim, const RowBlockWork& work) {
  InParallelRanges(NumBlocks(rows, dim), kBlocksATurn, [&](int64_t begin, int64_t end) {
    Eigen::MatrixXd block;
    for (int64_t i = begin; i < end; ++i) Work(rows, dim, i, work, &block);
  });
}

void NormaliseColumns(Eigen::MatrixXd* columns) {
  for (int64_t j = 0; j < columns->cols(); ++j) {
    if (const double norm = Eigen::VectorXd(columns->col(j)).norm(); norm > 0) columns->col(j) /= norm;
  }
}

absl::StatusOr<LinearHead> HeadOf(const ScoreInput& input) {
  const int64_t k = input.num_outputs;
  const int64_t d = input.feature_dim;
  if (input.head_weight.empty()) {
    return absl::InvalidArgumentError(
        "the score needs the weights of a linear head (head_weight), which the outputs "
        "lack");
  }
  if (k < 1 || d < 1 || input.head_weight.size() != k * d) {
    return absl::InvalidArgumentError(
        absl::StrCat("head_weight has ", input.head_weight.size(), " values for ", k, " outputs and ", d, " features"));
  }
  if (!input.head_bias.empty() && input.head_bias.size() != k) {
    return absl::InvalidArgumentError(
        absl::StrCat("head_bias has ", input.head_bias.size(), " values for ", k, " outputs"));
  }
  LinearHead head;
  head.weight = Eigen::Map<const Eigen::MatrixXf>(input.head_weight.data(), d, k).transpose().cast<double>();
  head.bias = Eigen::VectorXd::Zero(k);
  if (!input.head_bias.empty()) head.bias = Eigen::Map<const Eigen::VectorXf>(input.head_bias.data(), k).cast<double>();
  if (!head.weight.allFinite()) return absl::InvalidArgumentError("head_weight is not finite");
  if (!head.bias.allFinite()) return absl::InvalidArgumentError("head_bias is not finite");
  return head;
}

double LogSumExp(const Eigen::Ref<const Eigen::VectorXd>& z) {
  const double max = z.maxCoeff();
  return max + std::log((z.array() - max).exp().sum());
}

std::vector<double> HeadEnergy(const ScoreInput& input, const LinearHead& head,
                               const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& change) {
  std::vector<double> energy(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              for (int64_t j = 0; j < count; ++j) change(block->col(j));
                              const Eigen::MatrixXd logits = (head.weight * *block).colwise() + head.bias;
                              for (int64_t j = 0; j < count; ++j) energy[first + j] = -LogSumExp(logits.col(j));
                            });
  return energy;
}

absl::StatusOr<std::vector<int32_t>> ClosedSetPrediction(const ScoreInput& input, int64_t num_classes) {
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  if (num_classes < 1 || num_classes > input.num_outputs) {
    return absl::InvalidArgumentError(
        absl::StrCat(num_classes, " classes cannot be told apart by ", input.num_outputs, " outputs"));
  }
  std::vector<int32_t> prediction(input.num_samples);
  for (int64_t row = 0; row < input.num_samples; ++row) {
    prediction[row] = ArgMax(input.logits.subspan(row * input.num_outputs, num_classes));
  }
  return prediction;
}

}  // namespace openset
