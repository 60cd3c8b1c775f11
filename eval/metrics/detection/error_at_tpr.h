// Error at the threshold that detects 95 % of the unknown samples.
#ifndef OPENSET_EVAL_METRICS_DETECTION_ERROR_AT_TPR_H_
#define OPENSET_EVAL_METRICS_DETECTION_ERROR_AT_TPR_H_

#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

enum class ErrorRule {
  // The largest threshold t with at least 95 % of the unknown samples at r >= t; those are rejected.
  kFirstReaching,
  // As in the code of OpenAUC and of Vaze et al.: the lowest t whose share is nearest to 95 %. Samples with r > t are
  // rejected, so that those at t are accepted although they count as detected.
  kReleased,
};

// (unknown samples accepted + known samples rejected) / all samples. In [0, 1], lower is better. Depends on the
// known : unknown ratio. Absent without known or without unknown samples.
MetricResult ErrorAt95Tpr(const RankedInput& ranked, ErrorRule rule = ErrorRule::kFirstReaching);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_ERROR_AT_TPR_H_
