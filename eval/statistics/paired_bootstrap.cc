#include "eval/statistics/paired_bootstrap.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/make_metric.h"

namespace openset {
namespace {

MetricResult Difference(const MetricResult& a, const MetricResult& b) {
  if (!a.value.has_value()) return a;
  if (!b.value.has_value()) return b;
  return *a.value - *b.value;
}

double PValue(const std::vector<std::optional<double>>& differences) {
  double not_above = 1;
  double not_below = 1;
  double count = 1;
  for (const std::optional<double>& difference : differences) {
    if (!difference.has_value()) continue;
    not_above += *difference <= 0;
    not_below += *difference >= 0;
    ++count;
  }
  return std::min(1.0, 2 * std::min(not_above, not_below) / count);
}

}  // namespace

absl::StatusOr<std::vector<PairedDifference>> PairedBootstrap(absl::Span<const MetricSpec> metrics,
                                                              const RankedInput& a, const RankedInput& b,
                                                              const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckMetrics(metrics));
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  if (a.input().label() != b.input().label()) {
    return absl::InvalidArgumentError("the two methods must have the same samples: their labels differ");
  }
  if (a.input().group() != b.input().group()) {
    return absl::InvalidArgumentError("the two methods must have the same samples: their groups differ");
  }
  const auto make_statistics = [&]() -> Statistics {
    return [metrics, a = a, b = b](absl::Span<const uint32_t> weight) mutable {
      a.Reweight(weight);
      b.Reweight(weight);
      std::vector<MetricResult> differences;
      for (const MetricSpec& metric : metrics) {
        differences.push_back(Difference(ComputeMetric(metric, a), ComputeMetric(metric, b)));
      }
      return differences;
    };
  };
  const Replicates replicates = Bootstrap(make_statistics, StrataOf(a), a.input().num_samples(), options);
  const std::vector<IntervalValue> intervals = IntervalsOf(replicates, options);
  std::vector<PairedDifference> result(metrics.size());
  for (size_t m = 0; m < metrics.size(); ++m) {
    result[m].value_a = ComputeMetric(metrics[m], a).value;
    result[m].value_b = ComputeMetric(metrics[m], b).value;
    result[m].difference = intervals[m];
    if (!intervals[m].value.has_value()) continue;
    result[m].p_value = PValue(replicates.values[m]);
    result[m].verdict = VerdictOf(intervals[m].low, intervals[m].high);
  }
  return result;
}

}  // namespace openset
