#include "eval/files/probabilities.h"

#include <cmath>

namespace openset {

bool AreProbabilities(absl::Span<const float> outputs, int64_t num_outputs) {
  if (num_outputs < 2 || outputs.empty()) return false;
  for (size_t row = 0; row < outputs.size(); row += num_outputs) {
    double sum = 0;
    for (const float output : outputs.subspan(row, num_outputs)) {
      if (!(output >= 0)) return false;
      sum += output;
    }
    if (!(std::abs(sum - 1) <= 1e-4)) return false;
  }
  return true;
}

}  // namespace openset
