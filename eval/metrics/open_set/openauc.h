// OpenAUC (Wang et al. 2022, Eq. 12).
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_

#include "eval/metrics/detection/auroc.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// P(k is classified correctly and r_u > r_k) + P(k is classified correctly and r_u = r_k) / 2 for an unknown sample u
// and a known sample k. In [0, min(AUROC, accuracy)], higher is better. With kNothing, ties count 0, as in Eq. 12.
// Absent without known or without unknown samples.
MetricResult OpenAuc(const RankedInput& ranked, TiedPair tied = TiedPair::kHalf);

// The value that the released code computes: the AUROC (ties 1/2) after setting the scores of misclassified known
// samples to max r_u + 1e-5, in double or, with `in_float`, with all scores rounded to float. From |r| of about 1e11
// (double) or 256 (float) on, adding 1e-5 has no effect; those samples then tie with the largest r_u and the value is
// too large.
MetricResult OpenAucWithEpsilonMask(const RankedInput& ranked, bool in_float);

// Mean of COTPR over OFPR from `min_ofpr` to `max_ofpr`, 0 <= min_ofpr < max_ofpr <= 1. OFPR(t) is the share of unknown
// samples with r <= t, COTPR(t) the share of known samples that are classified correctly and have r <= t; points of
// distinct scores are joined by straight lines. In [0, accuracy], higher is better. Over [0, 1], it equals OpenAuc().
// Absent without known or without unknown samples.
MetricResult PartialOpenAuc(const RankedInput& ranked, double min_ofpr, double max_ofpr);

// The same for a spec. PartialOpenAuc() is also absent if min_ofpr is not below max_ofpr.
MetricResult OpenAuc(const RankedInput& ranked, const OpenAucMetricSpec& spec);
MetricResult PartialOpenAuc(const RankedInput& ranked, const PartialOpenAucSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_
