// Area under the open-set classification rate curve (Dhamija et al. 2018).
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// At a threshold t: CCR = share of the known samples that are accepted and classified correctly, FPR = share of the
// unknown samples that are accepted. The area of CCR over FPR lies in [0, 1], higher is better.
// Absent without known or without unknown samples.

// Accepted is r <= t on both axes; trapezoid. Equals OpenAUC with ties 1/2.
MetricResult OscrTrapezoid(const RankedInput& ranked);

// Accepted is r < t for CCR (Eq. 9 of OpenAUC) and r <= t for FPR, t over the distinct scores; trapezoid. Falls below
// the area above wherever an unknown sample follows a correct one.
MetricResult OscrEq9Mixed(const RankedInput& ranked);

// The number that the code of ARPL and of Vaze et al. prints when its sort is stable: over the samples by descending
// score (of equal ones the known first, then in the order of the input), CCR leaves out one sample more than FPR. Each
// place where a correct sample directly follows an unknown one costs half a pair. With ties it depends on the order.
MetricResult OscrLegacy(const RankedInput& ranked);

// The form that a spec names.
MetricResult Oscr(const RankedInput& ranked, const OscrSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_OSCR_H_
