#include "eval/metrics/detection/detection_error.h"

#include <algorithm>
#include <cstdint>

namespace openset {

MetricResult DetectionError(const RankedInput& ranked) {
  const Tally& total = ranked.total();
  if (total.known() == 0) return AbsentWithoutKnown();
  if (total.unknown == 0) return AbsentWithoutUnknown();
  // known accepted / known - unknown accepted / unknown, times both numbers.
  int64_t advantage = 0;
  int64_t largest = 0;
  for (const Tally& block : ranked.blocks()) {
    advantage +=
        static_cast<int64_t>(block.known()) * total.unknown - static_cast<int64_t>(block.unknown) * total.known();
    largest = std::max(largest, advantage);
  }
  return 0.5 - 0.5 * static_cast<double>(largest) / (static_cast<double>(total.known()) * total.unknown);
}

}  // namespace openset
