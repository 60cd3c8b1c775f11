// Area under the open-set classification rate curve (Dhamija et al. 2018).
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// At a threshold t, CCR is the share of known samples that are accepted and classified correctly, and FPR the share of
// unknown samples that are accepted. The area under CCR over FPR is in [0, 1], higher is better.
// Absent without known or without unknown samples.

// Accepts r <= t on both axes; trapezoid rule. Equals OpenAUC with ties 1/2.
MetricResult OscrTrapezoid(const RankedInput& ranked);

// Accepts r < t for CCR (Eq. 9 of OpenAUC) and r <= t for FPR, where t runs over the distinct scores; trapezoid rule.
// Each place where an unknown sample follows a correct one makes it smaller than the area above.
MetricResult OscrEq9Mixed(const RankedInput& ranked);

// The value that the code of ARPL and of Vaze et al. prints if its sort is stable: going through the samples by
// descending score (known samples first among equal scores, then in the order of the input), CCR excludes one sample
// more than FPR. Each place where a correct sample directly follows an unknown one loses half a pair. With ties, the
// value depends on the order.
MetricResult OscrLegacy(const RankedInput& ranked);

// The variant of a spec.
MetricResult Oscr(const RankedInput& ranked, const OscrSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_
