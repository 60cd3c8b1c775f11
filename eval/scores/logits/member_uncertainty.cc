#include "eval/scores/logits/member_uncertainty.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace openset {

absl::StatusOr<std::vector<double>> MemberUncertainty::Compute(const ScoreInput& input) const {
  constexpr int64_t kColumns = 3;
  const absl::Span<const float> values = input.member_uncertainty;
  if (values.empty() && input.num_samples > 0) {
    return absl::InvalidArgumentError(
        "the score needs member_uncertainty, which the outputs lack: infer with it (mc_dropout or ensemble with "
        "member_uncertainty: true)");
  }
  if (static_cast<int64_t>(values.size()) != input.num_samples * kColumns) {
    return absl::InvalidArgumentError(absl::StrCat("member_uncertainty has ", values.size(), " values; ",
                                                   input.num_samples, " samples need ", input.num_samples * kColumns));
  }
  const int64_t column = value_ == Value::kMutualInformation ? 0 : value_ == Value::kExpectedEntropy ? 1 : 2;
  std::vector<double> scores(input.num_samples);
  for (int64_t row = 0; row < input.num_samples; ++row) {
    scores[row] = values[row * kColumns + column];
    if (!std::isfinite(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("member_uncertainty is not finite in row ", row));
    }
  }
  return scores;
}

}  // namespace openset
