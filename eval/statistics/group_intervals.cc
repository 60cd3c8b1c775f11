#include "eval/statistics/group_intervals.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/status_macros.h"
#include "eval/metrics/evaluate.h"

namespace openset {
namespace {

// The columns' values, column after column.
std::vector<MetricResult> ValuesOf(const GroupedValues& grouped) {
  std::vector<MetricResult> values;
  const auto add = [&values](const GroupValues& column) {
    for (const MetricValue& metric : column.values) {
      values.push_back(metric.value.has_value() ? MetricResult(*metric.value)
                                                : MetricResult::Absent(metric.absent_reason));
    }
  };
  absl::c_for_each(grouped.groups, add);
  absl::c_for_each(grouped.means, add);
  add(grouped.pool);
  return values;
}

}  // namespace

absl::StatusOr<std::vector<GroupInterval>> GroupIntervals(absl::Span<const MetricSpec> metrics,
                                                          const RankedInput& ranked, absl::Span<const Group> groups,
                                                          const BootstrapOptions& options) {
  OPENSET_RETURN_IF_ERROR(CheckOptions(options));
  OPENSET_ASSIGN_OR_RETURN(const GroupedValues grouped, EvaluateGroups(metrics, ranked, groups));
  std::vector<GroupInterval> columns;
  for (const GroupValues& group : grouped.groups) columns.push_back({group.name, {}});
  for (const GroupValues& mean : grouped.means) columns.push_back({mean.name, {}});
  columns.push_back({grouped.pool.name, {}});
  const auto make_statistics = [&]() -> Statistics {
    return [metrics, groups, weighted = ranked](absl::Span<const uint32_t> weight) mutable {
      weighted.Reweight(weight);
      return ValuesOf(*EvaluateGroups(metrics, weighted, groups));  // it succeeded above
    };
  };
  const Replicates replicates = Bootstrap(make_statistics, StrataOf(ranked), ranked.input().num_samples(), options);
  const bool bca = options.method == IntervalMethod::kBca;
  const size_t num_groups = grouped.groups.size();
  for (size_t c = 0; c < columns.size(); ++c) {
    const bool is_mean = c >= num_groups && c + 1 < columns.size();
    RankedInput of_column = ranked;
    if (c < num_groups) of_column.Reweight(WeightsOfGroup(ranked, static_cast<int32_t>(c)));
    for (size_t m = 0; m < metrics.size(); ++m) {
      const size_t s = c * metrics.size() + m;
      IntervalValue interval = IntervalOf(
          replicates.estimate[s], replicates.values[s], replicates.jackknife,
          bca ? absl::MakeConstSpan(replicates.left[s]) : absl::Span<const std::optional<double>>(), options);
      is_mean ? NoteNoWidth(&interval) : WidenAtTheEdge(metrics[m], of_column, options.confidence, &interval);
      columns[c].metrics.push_back(std::move(interval));
    }
  }
  return columns;
}

}  // namespace openset
