// OpenAUC (Wang et al. 2022, Eq. 12).
#ifndef OPENSET_EVAL_METRICS_OPENAUC_H_
#define OPENSET_EVAL_METRICS_OPENAUC_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// P(k is classified correctly and r_u > r_k) + P(k is classified correctly and r_u = r_k) / 2 for an unknown sample u
// and a known sample k. In [0, min(AUROC, accuracy)], higher is better. With NOTHING, ties count 0, as in Eq. 12.
// Absent without known or without unknown samples.
MetricResult OpenAuc(const RankedInput& ranked, TiedPairRule::Value tied = TiedPairRule::HALF);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPENAUC_H_
