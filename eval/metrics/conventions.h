// The conventions of other tools: which variant of each metric a tool prints, and under which name.
#ifndef OPENSET_EVAL_METRICS_CONVENTIONS_H_
#define OPENSET_EVAL_METRICS_CONVENTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "eval/metrics/metric.pb.h"

namespace openset {

// One number that a tool prints.
struct ConventionMetric {
  std::string printed_name;  // "FPR@95"
  // Its `name` is unique within the convention.
  MetricSpec metric;
  // How to get the printed number from the metric's value: printed = offset + factor * value.
  double factor = 1;
  double offset = 0;
  std::string remark;  // what differs from `openset`, if anything does
};

struct Convention {
  std::string name;  // "openood"
  std::string tool;  // "OpenOOD v1.5"
  std::vector<ConventionMetric> metrics;
};

// All conventions. The first, `openset`, is this project's own; `released` is that of OpenAUC's code.
std::vector<Convention> Conventions();

// Errors: kNotFound, with the known names.
absl::StatusOr<Convention> FindConvention(absl::string_view name);

// For a metric of decisions: where its threshold comes from, and which side is positive if it is set by a true positive
// rate. Empty for other metrics.
std::string RemarkOn(const MetricSpec& metric);

// Every metric in its default form, in the order of MetricSpec.
std::vector<MetricSpec> AllMetrics();

}  // namespace openset

#endif  // OPENSET_EVAL_METRICS_CONVENTIONS_H_
