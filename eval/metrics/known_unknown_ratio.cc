// The number of known samples divided by the number of unknown samples. Absent without unknown samples.
#include "eval/metrics/metric_members.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

MetricResult KnownUnknownRatio(const RankedInput& ranked) {
  if (ranked.total().unknown == 0) return AbsentWithoutUnknown();
  return static_cast<double>(ranked.total().known()) / ranked.total().unknown;
}

}  // namespace

Metric Make(const KnownUnknownRatioSpec&) { return {{"known : unknown"}, KnownUnknownRatio}; }

}  // namespace openset
