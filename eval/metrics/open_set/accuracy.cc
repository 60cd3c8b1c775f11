#include "eval/metrics/open_set/accuracy.h"

namespace openset {

MetricResult Accuracy(const RankedInput& ranked) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  return static_cast<double>(ranked.total().correct) / ranked.total().known();
}

}  // namespace openset
