#include "eval/scores/prediction.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {

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
