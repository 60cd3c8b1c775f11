#include "eval/metrics/softmax_summary.h"

#include <cmath>

#include "absl/types/span.h"
#include "eval/scores/logits/softmax.h"

namespace openset {
namespace {

SoftmaxValues ValuesOf(absl::Span<const float> logits, int32_t label, int32_t prediction, int32_t num_classes) {
  const SoftmaxSum sum = SumSoftmax(logits);
  const auto probability = [&](int32_t c) { return std::exp(logits[c] - sum.max) / (1 + sum.rest); };
  SoftmaxValues values;
  if (prediction < num_classes) {
    values.confidence = probability(prediction);
  } else {
    for (int32_t c = num_classes; c < static_cast<int32_t>(logits.size()); ++c) values.confidence += probability(c);
  }
  if (label == kUnknownLabel) return values;
  values.nll = std::log1p(sum.rest) + (sum.max - logits[label]);
  for (int32_t c = 0; c < logits.size(); ++c) {
    const double distance = probability(c) - (c == label ? 1 : 0);
    values.brier += distance * distance;
  }
  return values;
}

}  // namespace

const std::vector<SoftmaxValues>& SoftmaxSummary::Values() const {
  std::call_once(once_, [this] {
    const int64_t width = input_.num_outputs();
    values_.reserve(input_.num_samples());
    for (int64_t i = 0; i < input_.num_samples(); ++i) {
      values_.push_back(ValuesOf(input_.logits().subspan(i * width, width), input_.label()[i], input_.prediction()[i],
                                 input_.num_classes()));
    }
  });
  return values_;
}

}  // namespace openset
