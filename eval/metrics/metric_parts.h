// What several metrics share: the parts of their labels, and their numbers of independent samples.
#ifndef OPENSET_EVAL_METRICS_METRIC_PARTS_H_
#define OPENSET_EVAL_METRICS_METRIC_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"

namespace openset {

using MetricLabel = std::vector<std::string>;

// Adds a detail if `is_set`.
MetricLabel With(MetricLabel label, bool is_set, const std::string& detail);

// "FIRST_REACHING_CORNERS" -> "first reaching corners".
std::string Words(const std::string& enumerator);
// 0.5 -> "0.5".
std::string Number(double value);
// 0.95 -> "95 %".
std::string Percent(double share);

// "best threshold on test", "threshold 0.5", "95 % of known accepted", "threshold of the method".
std::string ThresholdText(const OperatingPoint& at);
std::string ThresholdText(const BalancedScoreSpec& spec);

// Metric.trials. A mean over pairs has as many independent pairs as the smaller side has samples.
int64_t KnownSamples(const RankedInput& ranked);
int64_t UnknownSamples(const RankedInput& ranked);
int64_t AllSamples(const RankedInput& ranked);
int64_t SmallerSide(const RankedInput& ranked);

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_METRIC_PARTS_H_
