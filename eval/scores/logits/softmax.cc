#include "eval/scores/logits/softmax.h"

#include <algorithm>
#include <cmath>

namespace openset {

int32_t ArgMax(absl::Span<const float> values) {
  return static_cast<int32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

SoftmaxSum SumSoftmax(absl::Span<const float> logits, double temperature) {
  SoftmaxSum sum;
  sum.argmax = ArgMax(logits);
  sum.max = logits[sum.argmax];
  for (int32_t c = 0; c < logits.size(); ++c) {
    if (c != sum.argmax) sum.rest += std::exp((logits[c] - sum.max) / temperature);
  }
  return sum;
}

std::vector<double> Softmax(absl::Span<const float> logits) {
  const SoftmaxSum sum = SumSoftmax(logits);
  std::vector<double> p(logits.size());
  for (size_t c = 0; c < p.size(); ++c) p[c] = std::exp(logits[c] - sum.max) / (1 + sum.rest);
  return p;
}

}  // namespace openset
