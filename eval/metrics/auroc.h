// Area under the ROC curve for separating unknown from known samples.
#ifndef OPENSET_EVAL_METRICS_AUROC_H_
#define OPENSET_EVAL_METRICS_AUROC_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// P(r_u > r_k) + P(r_u = r_k) / 2 for an unknown sample u and a known one k: the Mann-Whitney statistic. In [0, 1],
// higher is better; 0.5 for constant scores. With NOTHING: P(r_u > r_k), as in the code of ARPL and of the
// unknown-detection benchmark; 0 for constant scores. Doesn't depend on which side is called positive.
// Absent without known or without unknown samples.
MetricResult Auroc(const RankedInput& ranked, TiedPairRule::Value tied = TiedPairRule::HALF);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_AUROC_H_
