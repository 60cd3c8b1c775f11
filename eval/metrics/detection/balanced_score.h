// Inner, Outer, Halfpoint and Overall score (Komorniczak and Ksieniewicz 2024).
#ifndef OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_
#define OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

enum class BalancedScore {
  // C classes, known samples only, closed-set predictions. Ignores the threshold.
  kInner,
  // Two classes: known samples should be accepted, unknown samples rejected. Absent without unknown samples.
  kOuter,
  // C + 1 classes, known samples only; rejecting one is an error. Class C + 1 has no samples, so its recall is 0.
  kHalfpoint,
  // C + 1 classes, all samples.
  kOverall,
};

// The classes over which the mean recall is taken. A class without samples counts as 0 if it is included.
enum class Denominator {
  kPresent,  // those that have samples
  kTouched,  // those that have samples or are predicted for one
  kAll,      // every class
};

// Mean recall of the decisions at `threshold` (accepted: r <= threshold). In [0, 1], higher is better. Absent if the
// mean includes no class.
MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, double threshold,
                             Denominator denominator = Denominator::kPresent);

// The same at the threshold of a spec. Absent if the threshold accepts a share of the known samples and there are none,
// and for the threshold of a method, which is known only in studies.
MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, const BalancedScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_
