// Detection error (Liang et al. 2018).
#ifndef OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_
#define OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// The least (share of the known samples rejected + share of the unknown ones accepted) / 2 over all thresholds. In
// [0, 0.5], lower is better; 1 minus it is the DTACC of ARPL's code. Absent without known or without unknown samples.
MetricResult DetectionError(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_DETECTION_ERROR_H_
