#include "eval/metrics/softmax_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/in_parallel.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// The piece of work of a thread: about a millisecond.
constexpr int64_t kOutputsATurn = 100000;

// `exps` [K] is a buffer for the summands of SumSoftmax().
SoftmaxValues ValuesOf(absl::Span<const float> logits, int32_t label, int32_t prediction, int32_t num_classes,
                       std::vector<double>* exps) {
  SoftmaxSum sum;
  sum.argmax = ArgMax(logits);
  sum.max = logits[sum.argmax];
  for (int32_t c = 0; c < logits.size(); ++c) {
    (*exps)[c] = std::exp(logits[c] - sum.max);
    if (c != sum.argmax) sum.rest += (*exps)[c];
  }
  const auto probability = [&](int32_t c) { return (*exps)[c] / (1 + sum.rest); };
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
    values_.resize(input_.num_samples());
    InParallelRanges(input_.num_samples(), std::max<int64_t>(1, kOutputsATurn / width),
                     [&](int64_t begin, int64_t end) {
                       std::vector<double> exps(width);
                       for (int64_t i = begin; i < end; ++i) {
                         values_[i] = ValuesOf(input_.logits().subspan(i * width, width), input_.label()[i],
                                               input_.prediction()[i], input_.num_classes(), &exps);
                       }
                     });
  });
  return values_;
}

}  // namespace openset
