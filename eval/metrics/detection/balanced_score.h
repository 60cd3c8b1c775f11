// Inner, Outer, Halfpoint and Overall score (Komorniczak and Ksieniewicz 2024).
#ifndef OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_
#define OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

enum class BalancedScore {
  // C classes, known samples, the closed-set prediction. The threshold plays no part.
  kInner,
  // Two classes: known samples accepted and unknown ones rejected.
  kOuter,
  // C + 1 classes, known samples only; a rejected one is a mistake. Class C + 1 has no samples, so its recall is 0.
  kHalfpoint,
  // C + 1 classes, all samples.
  kOverall,
};

// Which classes a mean recall is taken over. A class without samples counts 0 if it is in the mean.
enum class Denominator {
  kPresent,  // those that have samples
  kTouched,  // those that have samples or are predicted for one
  kAll,      // every class
};

// Mean recall of the decisions at `threshold` (accepted: r <= threshold). In [0, 1], higher is better. Absent where the
// mean is over no class.
MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, double threshold,
                             Denominator denominator = Denominator::kPresent);

// At the threshold that a spec names. Absent without known samples where that is a share of them, and for the threshold
// of a method, which only studies know.
MetricResult BalancedScoreAt(const RankedInput& ranked, BalancedScore score, const BalancedScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_BALANCED_SCORE_H_
