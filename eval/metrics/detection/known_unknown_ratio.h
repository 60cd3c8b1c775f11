// How unbalanced a problem is.
#ifndef OPENSET_EVAL_METRICS_DETECTION_KNOWN_UNKNOWN_RATIO_H_
#define OPENSET_EVAL_METRICS_DETECTION_KNOWN_UNKNOWN_RATIO_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The number of known samples divided by the number of unknown samples. Absent without unknown samples.
MetricResult KnownUnknownRatio(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_KNOWN_UNKNOWN_RATIO_H_
