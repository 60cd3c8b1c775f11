// Closed-set accuracy: the share of the known samples whose closed-set prediction is their label. In [0, 1], higher is
// better. Ignores scores. Absent without known samples.
#include "eval/metrics/metric_members.h"
#include "eval/metrics/metric_parts.h"
#include "eval/metrics/ranked_input.h"

namespace openset {
namespace {

MetricResult Accuracy(const RankedInput& ranked) {
  if (ranked.total().known() == 0) return AbsentWithoutKnown();
  return static_cast<double>(ranked.total().correct) / ranked.total().known();
}

}  // namespace

Metric Make(const AccuracySpec&) { return {{"accuracy"}, Accuracy, KnownSamples}; }

}  // namespace openset
