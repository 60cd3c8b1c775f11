// What several metrics share: the parts of their labels, and their numbers of independent samples.
#ifndef OPENSET_EVAL_METRICS_METRIC_PARTS_H_
#define OPENSET_EVAL_METRICS_METRIC_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "eval/metrics/metric.pb.h"
#include "eval/metrics/ranked_input.h"
#include "google/protobuf/generated_enum_reflection.h"

namespace openset {

using MetricLabel = std::vector<std::string>;

// "FIRST_REACHING_CORNERS" -> "first reaching corners".
std::string Words(const std::string& enumerator);

// Adds a detail if `is_set`.
MetricLabel With(MetricLabel label, bool is_set, const std::string& detail);

// Adds the value of an enum, as words ("first reaching corners"), unless it is the default or unspecified.
template <typename Enum>
MetricLabel WithForm(MetricLabel label, Enum form, Enum by_default) {
  return With(std::move(label), form > by_default,
              Words(google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(form)->name()));
}

// 0.5 -> "0.5".
std::string Number(double value);
// 0.95 -> "95 %".
std::string Percent(double share);

// The side that counts as positive: "unknown positive", "known positive".
std::string PositiveText(bool unknown_positive);

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
