// The value of a metric, or why it has none.
#ifndef OPENSET_EVAL_METRICS_METRIC_VALUE_H_
#define OPENSET_EVAL_METRICS_METRIC_VALUE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace openset {

// A finite number; or absent with the reason, if the metric is undefined on its input.
struct MetricResult {
  MetricResult(double number) : value(number) {}  // NOLINT(google-explicit-constructor)

  static MetricResult Absent(std::string reason) {
    MetricResult result;
    result.absent_reason = std::move(reason);
    return result;
  }

  std::optional<double> value;
  std::string absent_reason;  // empty if there is a value

 private:
  MetricResult() = default;
};

class RankedInput;

// A metric with its settings. Its direction, its unit and what it reads are in the schema (core/proto/traits.proto).
struct Metric {
  // The name, then what distinguishes variants of that name: "OSCR", "legacy".
  std::vector<std::string> label;
  // Precondition: the input has predictions if the metric reads them.
  std::function<MetricResult(const RankedInput&)> compute;
  // For a share of samples or pairs: the number of independent ones. Null for other metrics.
  std::function<int64_t(const RankedInput&)> trials;
};

// A MetricResult with the metric's name.
struct MetricValue {
  std::string name;
  std::optional<double> value;
  std::string absent_reason;
};

inline MetricResult AbsentWithoutKnown() { return MetricResult::Absent("no known samples"); }
inline MetricResult AbsentWithoutUnknown() { return MetricResult::Absent("no unknown samples"); }
inline MetricResult AbsentWithoutPredictions() { return MetricResult::Absent("no predictions"); }

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_METRIC_VALUE_H_
