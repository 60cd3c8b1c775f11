#include "eval/softmax.h"

#include <algorithm>
#include <cmath>

namespace openset {

int32_t ArgMax(absl::Span<const float> values) {
  // The largest value first, in four chains without branches, then its place.
  const size_t size = values.size();
  float most[4] = {values[0], values[0], values[0], values[0]};
  size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (size_t k = 0; k < 4; ++k) most[k] = values[i + k] > most[k] ? values[i + k] : most[k];
  }
  for (; i < size; ++i) most[0] = values[i] > most[0] ? values[i] : most[0];
  const float largest = *std::max_element(most, most + 4);
  const auto place = std::find(values.begin(), values.end(), largest);
  return place == values.end() ? 0 : static_cast<int32_t>(place - values.begin());
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
