// False positive rate at a true positive rate of 95 %, or another one.
#ifndef OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_
#define OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_

#include <optional>
#include <utility>

#include "eval/metrics/detection/aupr.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// How the threshold is chosen. FprAtTprSpec says which tools use which rule.
enum class FprRule {
  kFirstReaching,
  kFirstReachingCorners,
  kNearest,
  kNearestWalk,
  kStrictQuantile,
};

// Share of the negative samples on the positive side of the threshold. In [0, 1], lower is better. With kKnown as
// `positive`, the share of unknown samples that are accepted if 95 % of the known samples are accepted; with kUnknown,
// the share of known samples that are rejected if 95 % of the unknown samples are rejected. Absent without known or
// without unknown samples.
MetricResult FprAt95Tpr(const RankedInput& ranked, Positive positive, FprRule rule = FprRule::kFirstReaching);

// The same with kFirstReaching at any true positive rate. Precondition: 0 < tpr <= 1.
MetricResult FprAtTpr(const RankedInput& ranked, Positive positive, double tpr);

// Correct classification rate at a false positive rate (Dhamija et al. 2018): the share of known samples that are
// accepted and classified correctly at the largest threshold that accepts at most the share `fpr` of the unknown
// samples. Samples with equal scores are accepted together. In [0, 1], higher is better. Absent without known or
// without unknown samples. Precondition: 0 <= fpr <= 1.
MetricResult CcrAtFpr(const RankedInput& ranked, double fpr);

// The share of negative samples above a threshold d, averaged over those of 100,000 equally spaced thresholds from
// `low` to `high` (excluded) that 94.95 % to 95.05 % of the positive samples reach (>= d). Compares the unknown score,
// or minus the unknown score if `positive` is kKnown. Without a range, from the lowest to the highest value. Absent
// without known or without unknown samples, if there is no such threshold, and if high - low is not finite, as without
// a range if scores are infinite. Precondition: low < high.
MetricResult FprAt95TprOnGrid(const RankedInput& ranked, Positive positive,
                              std::optional<std::pair<double, double>> range);

// FprAt95Tpr() or FprAt95TprOnGrid(), by the rule of a spec. Precondition: CheckMetrics() (evaluate.h).
MetricResult FprAt95Tpr(const RankedInput& ranked, Positive positive, const FprAtTprSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_
