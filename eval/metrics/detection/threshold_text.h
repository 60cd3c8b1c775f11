// Describes the threshold of a metric of decisions, for the metric's label.
#ifndef OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_TEXT_H_
#define OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_TEXT_H_

#include <string>

#include "eval/metrics/metric.pb.h"

namespace openset {

// "best threshold on test", "threshold 0.5", "95 % of known accepted", "threshold of the method".
std::string ThresholdText(const OperatingPoint& at);
std::string ThresholdText(const BalancedScoreSpec& spec);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_DETECTION_THRESHOLD_TEXT_H_
