#include "eval/scores/stage_values.h"

#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"

namespace openset {
namespace {

int64_t TotalWidth(const ScoreInput& input) {
  return std::accumulate(input.stage_widths.begin(), input.stage_widths.end(), int64_t{0});
}

}  // namespace

absl::Status CheckStageValues(const ScoreInput& input) {
  if ((input.stage_values.empty() && input.num_samples > 0) || input.stage_widths.empty()) {
    return absl::InvalidArgumentError("the score needs stage_values and stage_widths, which the outputs lack");
  }
  const auto size = static_cast<int64_t>(input.stage_values.size());
  int64_t left = input.num_samples > 0 ? size / input.num_samples : TotalWidth(input);
  for (const int64_t width : input.stage_widths) {
    if (width < 1)
      return absl::InvalidArgumentError(absl::StrCat("stage_widths must be at least 1 (one is ", width, ")"));
    left = width > left ? -1 : left - width;
    if (left < 0) break;
  }
  if (left != 0 || (input.num_samples == 0 ? size : size % input.num_samples) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", size, " stage_values for ", input.num_samples,
                                                   " samples with stage_widths ",
                                                   absl::StrJoin(input.stage_widths, ", ")));
  }
  for (int64_t i = 0; i < size; ++i) {
    if (std::isfinite(input.stage_values[i])) continue;
    const int64_t width = TotalWidth(input);
    return absl::InvalidArgumentError(
        absl::StrCat("stage_values are not finite in row ", i / width, ", value ", i % width));
  }
  return absl::OkStatus();
}

absl::Status CheckStageValuesLikeFitted(const ScoreInput& input, const std::vector<int64_t>& fitted,
                                        absl::string_view name) {
  if (fitted.empty()) return absl::FailedPreconditionError(absl::StrCat(name, " must be fitted before it can score"));
  OPENSET_RETURN_IF_ERROR(CheckStageValues(input));
  if (input.stage_widths != fitted) {
    return absl::InvalidArgumentError(absl::StrCat(name, " was fitted to stages of ", absl::StrJoin(fitted, ", "),
                                                   " values; these outputs have ",
                                                   absl::StrJoin(input.stage_widths, ", ")));
  }
  return absl::OkStatus();
}

std::vector<float> ValuesOfStage(const ScoreInput& input, int64_t stage) {
  const int64_t total = TotalWidth(input);
  const auto widths = input.stage_widths.begin();
  const int64_t first = std::accumulate(widths, widths + stage, int64_t{0});
  std::vector<float> values;
  values.reserve(input.num_samples * input.stage_widths[stage]);
  for (int64_t row = 0; row < input.num_samples; ++row) {
    const auto begin = input.stage_values.begin() + row * total + first;
    values.insert(values.end(), begin, begin + input.stage_widths[stage]);
  }
  return values;
}

}  // namespace openset
