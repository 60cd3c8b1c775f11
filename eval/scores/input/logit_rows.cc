#include "eval/scores/input/logit_rows.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "eval/softmax.h"

namespace openset {
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

}  // namespace openset
