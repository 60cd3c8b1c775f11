#include "eval/metrics/evaluate.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "eval/metrics/metric_table.h"

namespace openset {
namespace {

// The least number of samples for several threads; one metric then takes a millisecond.
constexpr int64_t kWorthThreads = 200000;

std::string ContradictionOf(const FprAtTprSpec& spec) {
  if (spec.has_grid_low() != spec.has_grid_high()) {
    return "has only one of grid_low and grid_high; set both or neither";
  }
  if (spec.has_grid_low() && spec.grid_low() >= spec.grid_high()) {
    return absl::StrCat("grid_low must be below grid_high (", spec.grid_low(), " and ", spec.grid_high(), ")");
  }
  return "";
}

}  // namespace

std::string ContradictionOf(const MetricSpec& metric) {
  if (metric.has_fpr_at_95tpr()) return ContradictionOf(metric.fpr_at_95tpr());
  if (metric.has_fpr_at_95tpr_unknown_positive()) return ContradictionOf(metric.fpr_at_95tpr_unknown_positive());
  return "";
}

absl::Status CheckMetrics(absl::Span<const MetricSpec> metrics) {
  std::set<std::string> names;
  for (int i = 0; i < metrics.size(); ++i) {
    for (const FieldProblem& problem : FindProblems(metrics[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("metric[", i, "]", problem.path.empty() ? "" : ".", problem.path, " ", problem.message));
    }
    const std::string name = MetricName(metrics[i]);
    if (const std::string problem = ContradictionOf(metrics[i]); !problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("metric[", i, "]: ", name, " ", problem));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("metric[", i, "]: there is another metric named '", name,
                                                     "'; where they differ in their settings, give one a name"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const RankedInput& ranked) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  std::vector<MetricValue> values(metrics.size());
  const auto compute = [&](int64_t m) {
    MetricResult result = ComputeMetric(metrics[m], ranked);
    values[m] = {MetricName(metrics[m]), result.value, std::move(result.absent_reason)};
  };
  if (ranked.input().num_samples() >= kWorthThreads) {
    InParallel(static_cast<int64_t>(metrics.size()), compute);
  } else {
    for (size_t m = 0; m < metrics.size(); ++m) compute(static_cast<int64_t>(m));
  }
  return values;
}

absl::StatusOr<std::vector<MetricValue>> Evaluate(absl::Span<const MetricSpec> metrics, const EvaluationInput& input) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  return Evaluate(metrics, RankedInput(input));
}

}  // namespace openset
