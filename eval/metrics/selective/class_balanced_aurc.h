// Areas under risk-coverage curves in which each class has the same weight (the balanced-accuracy variants of
// FD-Shifts).
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Over the known samples; K classes have samples. Trapezoid rule over coverage, between distinct scores.

// The risk is the mean over the K classes of the share of errors among the class's accepted samples, 0 if none is
// accepted; at coverage 0, that of the first score. In [0, 1], lower is better. Absent without known samples.
MetricResult ClassBalancedAurc(const RankedInput& ranked);

// The risk is the mean over the K classes of accepted errors / the class's samples; 0 at coverage 0. In [0, 1), lower
// is better. Absent without known samples.
MetricResult ClassBalancedAugrc(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_
