#include "eval/report/evaluate_samples.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "eval/metrics/aurc.h"
#include "eval/metrics/display.h"
#include "eval/metrics/evaluate.h"
#include "eval/statistics/delong.h"

namespace openset {
namespace {

double Printed(const ConventionMetric& metric, double value) { return metric.offset + metric.factor * value; }

std::optional<double> Printed(const ConventionMetric& metric, const std::optional<double>& value) {
  if (!value.has_value()) return std::nullopt;
  return Printed(metric, *value);
}

std::pair<double, double> PrintedInterval(const ConventionMetric& metric, const IntervalValue& interval) {
  return std::minmax({Printed(metric, interval.low), Printed(metric, interval.high)});
}

Display DisplayOfPrinted(const ConventionMetric& metric) {
  Display display = DisplayOf(metric.metric);
  display.factor /= std::abs(metric.factor);
  if (metric.factor == 1000) display.value_unit = "x1000";
  if (metric.factor < 0 && display.higher_is_better.has_value()) display.higher_is_better = !*display.higher_is_better;
  if (metric.offset != 0) display.label = absl::StrCat(metric.offset, " - ", display.label);
  return display;
}

std::string IntervalText(const SampleIntervals& intervals, const EvaluationInput& input) {
  const BootstrapOptions& options = intervals.bootstrap;
  const char* method = intervals.delong                                ? "delong"
                       : options.method == IntervalMethod::kPercentile ? "percentile"
                                                                       : "bca";
  const std::set<int64_t> clusters(input.cluster().begin(), input.cluster().end());
  const std::string of_clusters = clusters.empty() ? "" : absl::StrCat(" of ", clusters.size(), " clusters");
  return absl::StrFormat("%g %% interval (%s, %d replicates%s, seed %d)", 100 * options.confidence, method,
                         options.replicates, of_clusters, options.seed);
}

absl::StatusOr<std::vector<IntervalValue>> IntervalsOf(const std::vector<MetricSpec>& metrics,
                                                       const RankedInput& ranked, const SampleIntervals& options) {
  std::vector<IntervalValue> intervals(metrics.size());
  std::vector<MetricSpec> others;
  std::vector<size_t> place;
  for (size_t m = 0; m < metrics.size(); ++m) {
    const std::optional<PairStatistic> statistic = PairStatisticOf(metrics[m]);
    if (options.delong && statistic.has_value()) {
      const absl::StatusOr<NormalInterval> interval = DeLongInterval(ranked, *statistic, options.bootstrap.confidence);
      if (interval.ok()) {
        intervals[m] = {interval->value, interval->low, interval->high, interval->standard_error, "", interval->note};
      } else {
        intervals[m].absent_reason = std::string(interval.status().message());
      }
    } else {
      others.push_back(metrics[m]);
      place.push_back(m);
    }
  }
  if (others.empty()) return intervals;
  OPENSET_ASSIGN_OR_RETURN(std::vector<IntervalValue> rest, BootstrapIntervals(others, ranked, options.bootstrap));
  for (size_t i = 0; i < rest.size(); ++i) intervals[place[i]] = std::move(rest[i]);
  return intervals;
}

ReportedMetric ReportedOf(const ConventionMetric& metric, const MetricValue& value, const IntervalValue* interval) {
  ReportedMetric reported;
  reported.name = metric.printed_name;
  reported.display = DisplayOfPrinted(metric);
  reported.remark = metric.remark;
  reported.value = Printed(metric, value.value);
  reported.absent_reason = value.absent_reason;
  if (interval == nullptr || !value.value.has_value()) return reported;
  reported.absent_reason = interval->absent_reason;
  if (!interval->value.has_value()) return reported;
  std::tie(reported.low, reported.high) = PrintedInterval(metric, *interval);
  if (!interval->note.empty()) {
    absl::StrAppend(&reported.remark, reported.remark.empty() ? "" : "; ", "interval: ", interval->note);
  }
  return reported;
}

ReportedGroup ReportedOf(absl::Span<const ConventionMetric> metrics, GroupValues set, int64_t samples) {
  ReportedGroup group{std::move(set.name), samples, std::move(set.values), {}};
  for (size_t m = 0; m < metrics.size(); ++m) group.values[m].value = Printed(metrics[m], group.values[m].value);
  return group;
}

// The sets of unknown samples, their means, and the pool.
absl::StatusOr<std::vector<ReportedGroup>> UnknownSets(absl::Span<const ConventionMetric> metrics,
                                                       const std::vector<MetricSpec>& specs,
                                                       absl::Span<const Group> groups, const RankedInput& ranked,
                                                       const std::optional<SampleIntervals>& intervals) {
  OPENSET_ASSIGN_OR_RETURN(GroupedValues grouped, EvaluateGroups(specs, ranked, groups));
  std::vector<GroupValues> columns = std::move(grouped.groups);
  for (GroupValues& mean : grouped.means) {
    mean.name = absl::StrCat("mean of ", mean.name);
    columns.push_back(std::move(mean));
  }
  columns.push_back(std::move(grouped.pool));
  std::vector<GroupInterval> of_columns;
  if (intervals.has_value()) {
    OPENSET_ASSIGN_OR_RETURN(of_columns, GroupIntervals(specs, ranked, groups, intervals->bootstrap));
  }
  std::vector<ReportedGroup> sets;
  for (size_t c = 0; c < columns.size(); ++c) {
    const int64_t samples = columns[c].unknown_samples;
    sets.push_back(ReportedOf(metrics, std::move(columns[c]), samples));
    if (of_columns.empty()) continue;
    for (size_t m = 0; m < metrics.size(); ++m) {
      const IntervalValue& interval = of_columns[c].metrics[m];
      sets.back().intervals.emplace_back();
      if (interval.value.has_value()) sets.back().intervals.back() = PrintedInterval(metrics[m], interval);
    }
  }
  return sets;
}

std::vector<ReportedSource> SourcesOfErrors(absl::Span<const Group> groups, const RankedInput& ranked) {
  std::vector<ReportedSource> sources;
  for (const AurcPart& part : PooledAurcParts(ranked)) {
    const std::string name = part.group == kUnknownLabel ? "known"
                             : groups.empty()            ? "unknown"
                                                         : groups[part.group].name;
    sources.push_back({name, part});
  }
  return sources;
}

}  // namespace

absl::StatusOr<EvaluationReport> EvaluateSamples(absl::Span<const ConventionMetric> metrics, const SampleSet& samples,
                                                 const RankedInput& ranked,
                                                 const std::optional<SampleIntervals>& intervals) {
  std::vector<MetricSpec> specs;
  for (const ConventionMetric& metric : metrics) specs.push_back(metric.metric);
  EvaluationReport report;
  report.num_known = ranked.total().known();
  report.num_unknown = ranked.total().unknown;
  report.num_classes = samples.num_classes;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricValue> values, Evaluate(specs, ranked));
  std::vector<IntervalValue> of_values;
  if (intervals.has_value()) {
    OPENSET_ASSIGN_OR_RETURN(of_values, IntervalsOf(specs, ranked, *intervals));
    report.interval = IntervalText(*intervals, ranked.input());
  }
  for (size_t m = 0; m < metrics.size(); ++m) {
    report.metrics.push_back(ReportedOf(metrics[m], values[m], intervals.has_value() ? &of_values[m] : nullptr));
  }
  if (!samples.groups.empty()) {
    OPENSET_ASSIGN_OR_RETURN(report.groups, UnknownSets(metrics, specs, samples.groups, ranked, intervals));
  }
  if (!samples.known_sets.empty()) {
    OPENSET_ASSIGN_OR_RETURN(std::vector<GroupValues> sets,
                             EvaluateKnownSets(specs, ranked, samples.known_set, samples.known_sets));
    for (GroupValues& set : sets) {
      const int64_t known = set.known_samples;
      report.known_sets.push_back(ReportedOf(metrics, std::move(set), known));
    }
  }
  const bool is_pooled = absl::c_any_of(specs, [](const MetricSpec& spec) { return spec.has_pooled_aurc(); });
  if (is_pooled && report.num_unknown > 0) report.sources = SourcesOfErrors(samples.groups, ranked);
  return report;
}

}  // namespace openset
