// Softmax quantities of one row of logits z, in double and without overflow.
#ifndef OPENSET_EVAL_SOFTMAX_H_
#define OPENSET_EVAL_SOFTMAX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace openset {

// The index of the largest value; the lowest one if several are equal. Precondition: not empty.
int32_t ArgMax(absl::Span<const float> values);

// The predicted class that a score uses if several logits are the largest.
enum class TiedLogits {
  kLeastScore,  // the one with the least score, so that the order of the classes does not matter
  kFirst,       // the first one, as argmax in released code
};

// exp(z_c) relative to the largest logit.
struct SoftmaxSum {
  int32_t argmax = 0;
  double max = 0;   // z_argmax
  double rest = 0;  // sum over c != argmax of exp((z_c - max) / temperature), in [0, K - 1]
};
// Preconditions: not empty, temperature > 0.
SoftmaxSum SumSoftmax(absl::Span<const float> logits, double temperature = 1);

// softmax(z) [K], in double. Precondition: not empty.
std::vector<double> Softmax(absl::Span<const float> logits);

}  // namespace openset

#endif  // OPENSET_EVAL_SOFTMAX_H_
