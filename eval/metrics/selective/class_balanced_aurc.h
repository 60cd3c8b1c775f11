// Areas under risk-coverage curves in which every class counts the same (FD-Shifts: the balanced-accuracy forms).
#ifndef OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_
#define OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Of the known samples, K classes having some. Trapezoids over coverage between distinct scores.

// Risk: the mean over the K classes of the share of errors among the class's accepted samples, 0 if none is
// accepted; the first risk also holds at coverage 0. In [0, 1], lower is better. Absent without known samples.
MetricResult ClassBalancedAurc(const RankedInput& ranked);

// Risk: the mean over the K classes of accepted errors / the class's samples; 0 at coverage 0. In [0, 1), lower is
// better. Absent as above.
MetricResult ClassBalancedAugrc(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_SELECTIVE_CLASS_BALANCED_AURC_H_
