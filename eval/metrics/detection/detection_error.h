// Detection error (Liang et al. 2018).
#ifndef OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_
#define OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The minimum over all thresholds of (share of known samples rejected + share of unknown samples accepted) / 2. In
// [0, 0.5], lower is better. 1 minus this is the DTACC of ARPL's code. Absent without known or without unknown samples.
MetricResult DetectionError(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_
