// False positive rate where 95 %, or another share, of the positive samples are found.
#ifndef OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_
#define OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_

#include <optional>
#include <utility>

#include "eval/metrics/detection/aupr.h"
#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// How the threshold is picked. FprAtTprSpec says which tool does what.
enum class FprRule {
  kFirstReaching,
  kFirstReachingCorners,
  kNearest,
  kNearestWalk,
  kStrictQuantile,
};

// Share of the negative samples on the positive side of the threshold. In [0, 1], lower is better. `positive` decides
// what is measured: with kKnown the share of the unknown samples that are accepted where 95 % of the known ones are,
// with kUnknown the share of the known samples that are rejected where 95 % of the unknown ones are. Absent without
// known or without unknown samples.
MetricResult FprAt95Tpr(const RankedInput& ranked, Positive positive, FprRule rule = FprRule::kFirstReaching);

// The same by kFirstReaching at any level. Precondition: 0 < tpr <= 1.
MetricResult FprAtTpr(const RankedInput& ranked, Positive positive, double tpr);

// Correct classification rate at a false positive rate (Dhamija et al. 2018): share of the known samples that are
// accepted and classified correctly at the largest threshold that accepts at most `fpr` of the unknown ones; equal
// scores pass together. In [0, 1], higher is better. Absent without known or without unknown samples. Precondition:
// 0 <= fpr <= 1.
MetricResult CcrAtFpr(const RankedInput& ranked, double fpr);

// The mean over 100,000 thresholds d from `low` to `high` (excluded) of which 94.95 % to 95.05 % of the positive
// samples reach (>= d) of the share of the negative samples above d, in positive-ness: minus the unknown score if
// `positive` is kKnown. Without a range: from the lowest to the highest score. Absent without known or without unknown
// samples, and where no threshold of the grid lies there.
MetricResult FprAt95TprOnGrid(const RankedInput& ranked, Positive positive,
                              std::optional<std::pair<double, double>> range);

// FprAt95Tpr() or FprAt95TprOnGrid(), by the rule that a spec names.
MetricResult FprAt95Tpr(const RankedInput& ranked, Positive positive, const FprAtTprSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_FPR_AT_TPR_H_
