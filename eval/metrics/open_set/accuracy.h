// Closed-set accuracy.
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_ACCURACY_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_ACCURACY_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Share of the known samples whose closed-set prediction is their label. In [0, 1], higher is better. Ignores scores.
// Absent without known samples.
MetricResult Accuracy(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_ACCURACY_H_
