// Area under the precision-recall curve.
#ifndef OPENSET_EVAL_METRICS_DETECTION_AUPR_H_
#define OPENSET_EVAL_METRICS_DETECTION_AUPR_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Which samples a detection metric counts as positive. If unknown samples are positive, those with a score at or above
// a threshold are predicted positive; if known samples are, those at or below it.
enum class Positive { kKnown, kUnknown };

enum class AuprForm {
  // The sum over the distinct scores, starting with the most positive one, of (increase of recall) * (precision
  // including the samples with this score).
  kStep,
  // The area under straight lines between the points (recall, precision), starting at (0, 1).
  kTrapezoid,
  // Like kStep, but with the precision before the samples with this score (the first term uses its own precision), and
  // with rates instead of counts in the precision, so that both sides have the same weight.
  kBalancedStep,
};

// In [0, 1], higher is better. For constant scores, kStep gives the share of positive samples. Depends on the
// known : unknown ratio, except kBalancedStep. Absent without known or without unknown samples.
MetricResult Aupr(const RankedInput& ranked, Positive positive, AuprForm form = AuprForm::kStep);

// The variant that a spec asks for.
MetricResult Aupr(const RankedInput& ranked, Positive positive, const AuprSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_AUPR_H_
