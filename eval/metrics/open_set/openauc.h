// OpenAUC (Wang et al. 2022, Eq. 12).
#ifndef OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_
#define OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_

#include "eval/metrics/detection/auroc.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// P(k is classified correctly and r_u > r_k) + P(k is classified correctly and r_u = r_k) / 2 for an unknown sample u
// and a known one k. In [0, min(AUROC, accuracy)], higher is better. With kNothing: ties count 0, Eq. 12 as written.
// Absent without known or without unknown samples.
MetricResult OpenAuc(const RankedInput& ranked, TiedPair tied = TiedPair::kHalf);

// The number that the released code gives: the AUROC (ties 1/2) after misclassified known samples were given the score
// max r_u + 1e-5, in double or (`in_float`) with all scores rounded to float. Where adding 1e-5 is lost in rounding,
// from |r| of about 1e11 (double) or 256 (float) on, those samples tie with the largest r_u and the number is too
// large.
MetricResult OpenAucWithEpsilonMask(const RankedInput& ranked, bool in_float);

// Mean of COTPR over OFPR from `min_ofpr` to `max_ofpr`, 0 <= min_ofpr < max_ofpr <= 1: OFPR(t) is the share of the
// unknown samples with r <= t, COTPR(t) that of the known ones that are classified correctly with r <= t, with straight
// lines between distinct scores. In [0, accuracy], higher is better. The mean over [0, 1] is OpenAuc().
// Absent without known or without unknown samples.
MetricResult PartialOpenAuc(const RankedInput& ranked, double min_ofpr, double max_ofpr);

// Those that a spec describes. PartialOpenAuc() is also absent where min_ofpr is not below max_ofpr.
MetricResult OpenAuc(const RankedInput& ranked, const OpenAucMetricSpec& spec);
MetricResult PartialOpenAuc(const RankedInput& ranked, const PartialOpenAucSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_OPEN_SET_OPENAUC_H_
