// Area under the precision-recall curve.
#ifndef OPENSET_EVAL_METRICS_DETECTION_AUPR_H_
#define OPENSET_EVAL_METRICS_DETECTION_AUPR_H_

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

// Which samples a detection metric calls positive. Positive unknown samples are those at or above a threshold, positive
// known ones those at or below it.
enum class Positive { kKnown, kUnknown };

enum class AuprForm {
  // sum over the distinct scores, from the most positive on, of (rise of recall) * precision with the block.
  kStep,
  // Straight lines between the points (recall, precision), from (0, 1) on.
  kTrapezoid,
  // kStep with the precision before the block, from rates instead of counts, so that both sides weigh the same; the
  // first block has its own precision.
  kBalancedStep,
};

// In [0, 1], higher is better; that of constant scores is the share of positive samples for kStep. Depends on the
// known : unknown ratio (but for kBalancedStep). Absent without known or without unknown samples.
MetricResult Aupr(const RankedInput& ranked, Positive positive, AuprForm form = AuprForm::kStep);

// The form that a spec names.
MetricResult Aupr(const RankedInput& ranked, Positive positive, const AuprSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_AUPR_H_
