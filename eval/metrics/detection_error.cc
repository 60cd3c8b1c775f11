// Detection error (Liang et al. 2018): the minimum over all thresholds of (share of known samples rejected + share of
// unknown samples accepted) / 2. In [0, 0.5], lower is better. 1 minus this is the DTACC of ARPL's code. Absent without
// known or without unknown samples.
#include <algorithm>
#include <cstdint>

#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

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

}  // namespace

Metric Make(const DetectionErrorSpec&) { return {{"detection error"}, DetectionError, SmallerSide}; }

}  // namespace openset
