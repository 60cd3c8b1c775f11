#include "eval/metrics/evaluation_input.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr int64_t kTooMany = int64_t{1} << 30;
constexpr int32_t kLargestGroup = (1 << 30) - 1;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckShapes(const EvaluationInput::Arrays& arrays) {
  const int64_t n = arrays.label.size();
  if (n == 0) return Invalid("there are no samples");
  if (n >= kTooMany) return Invalid("there are ", n, " samples; fewer than 2^30 can be evaluated");
  if (arrays.unknown_score.size() != n) {
    return Invalid("unknown_score has ", arrays.unknown_score.size(), " samples, label has ", n);
  }
  if (!arrays.prediction.empty() && arrays.prediction.size() != n) {
    return Invalid("prediction has ", arrays.prediction.size(), " samples, label has ", n);
  }
  if (!arrays.group.empty() && arrays.group.size() != n) {
    return Invalid("group has ", arrays.group.size(), " samples, label has ", n);
  }
  if (!arrays.cluster.empty() && arrays.cluster.size() != n) {
    return Invalid("cluster has ", arrays.cluster.size(), " samples, label has ", n);
  }
  if (!arrays.loss.empty() && arrays.loss.size() != n) {
    return Invalid("loss has ", arrays.loss.size(), " samples, label has ", n);
  }
  if (!arrays.loss.empty() && !arrays.prediction.empty()) return Invalid("there are predictions and a loss");
  if (arrays.num_classes >= kTooMany) return Invalid("num_classes is ", arrays.num_classes, "; it must be below 2^30");
  if (arrays.num_classes < 1) return Invalid("num_classes must be at least 1 (is ", arrays.num_classes, ")");
  if (!arrays.logits.empty()) {
    if (arrays.prediction.empty()) return Invalid("there are logits, but no predictions");
    if (arrays.num_outputs < arrays.num_classes) {
      return Invalid("logits have ", arrays.num_outputs, " outputs for ", arrays.num_classes, " classes");
    }
    if (arrays.logits.size() != n * arrays.num_outputs) {
      return Invalid("logits have ", arrays.logits.size(), " values; ", n, " samples of ", arrays.num_outputs,
                     " outputs need ", n * arrays.num_outputs);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const EvaluationInput::Arrays& arrays) {
  const int64_t n = arrays.label.size();
  const int32_t num_classes = arrays.num_classes;
  for (int64_t row = 0; row < n; ++row) {
    if (std::isnan(arrays.unknown_score[row])) return Invalid("unknown_score is NaN in row ", row);
    if (arrays.label[row] < kUnknownLabel || arrays.label[row] >= num_classes) {
      return Invalid("label is ", arrays.label[row], " in row ", row, "; it must lie in 0 .. ", num_classes - 1,
                     ", or be -1 for unknown");
    }
    if (!arrays.prediction.empty() && (arrays.prediction[row] < 0 || arrays.prediction[row] > num_classes)) {
      return Invalid("prediction is ", arrays.prediction[row], " in row ", row, "; it must lie in 0 .. ",
                     num_classes - 1, ", or be ", num_classes, " for unknown");
    }
  }
  for (int64_t row = 0; row < arrays.loss.size(); ++row) {
    if (arrays.label[row] != kUnknownLabel && !(arrays.loss[row] >= 0 && arrays.loss[row] <= 1)) {
      return Invalid("loss is ", arrays.loss[row], " in row ", row, "; it must lie in 0 .. 1");
    }
  }
  for (int64_t row = 0; row < arrays.group.size(); ++row) {
    if (arrays.label[row] != kUnknownLabel) continue;
    if (arrays.group[row] < 0 || arrays.group[row] > kLargestGroup) {
      return Invalid("group is ", arrays.group[row], " for the unknown sample in row ", row, "; it must lie in 0 .. ",
                     kLargestGroup);
    }
  }
  if (arrays.logits.empty()) return absl::OkStatus();
  for (int64_t row = 0; row < n; ++row) {
    const absl::Span<const float> logits = arrays.logits.subspan(row * arrays.num_outputs, arrays.num_outputs);
    bool all_zero = true;  // exp(logit)
    for (int32_t output = 0; output < arrays.num_outputs; ++output) {
      if (!(logits[output] < std::numeric_limits<float>::infinity())) {
        return Invalid("logits are ", logits[output], " in row ", row, ", output ", output);
      }
      all_zero = all_zero && std::isinf(logits[output]);
    }
    if (all_zero) return Invalid("all logits are -inf in row ", row);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EvaluationInput> EvaluationInput::Create(const Arrays& arrays) {
  OPENSET_RETURN_IF_ERROR(CheckShapes(arrays));
  OPENSET_RETURN_IF_ERROR(CheckValues(arrays));
  EvaluationInput input(arrays);
  for (int64_t row = 0; row < input.num_samples(); ++row) {
    if (!input.IsUnknown(row)) {
      ++input.num_known_;
    } else if (!arrays.group.empty()) {
      input.num_groups_ = std::max(input.num_groups_, arrays.group[row] + 1);
    }
  }
  return input;
}

}  // namespace openset
