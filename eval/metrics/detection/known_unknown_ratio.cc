#include "eval/metrics/detection/known_unknown_ratio.h"

namespace openset {

MetricResult KnownUnknownRatio(const RankedInput& ranked) {
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  return static_cast<double>(ranked.total().known()) / ranked.total().unknown;
}

}  // namespace openset
