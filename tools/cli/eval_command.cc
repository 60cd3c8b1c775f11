#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "eval/metrics/confusion.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/display.h"
#include "eval/metrics/evaluate.h"
#include "eval/metrics/groups.h"
#include "eval/metrics/make_metric.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/curve_files.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/evaluation_report.h"
#include "eval/report/methods_report.h"
#include "eval/statistics/bootstrap.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/group_intervals.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"
#include "tools/cli/method_names.h"
#include "tools/cli/score_flags.h"
#include "tools/cli/spec_flags.h"

ABSL_FLAG(bool, ci, false, "Confidence intervals.");
ABSL_FLAG(std::string, as, "samples",
          "What several FILEs are: samples, joined one file after the other, or methods, measured one by one and put "
          "beside each other in one table (a FILE then may be several joined by commas).");
ABSL_FLAG(std::string, curves, "",
          "Folder for the curves, as .csv and .svg and all in one page: ROC, OSCR, risk over coverage, scores, "
          "reliability. With --as=methods the first three, of all methods in one picture each.");
ABSL_FLAG(std::string, classes, "", "File (.csv) for the closed-set accuracy of each known class.");
ABSL_FLAG(std::string, convention, "openset",
          "Whose metrics, under the names and by the rules of its code: openset, openood, odin, oe, udb, arpl, "
          "fd_shifts, torch_uncertainty or released (OpenAUC).");

ABSL_DECLARE_FLAG(std::vector<std::string>, rows);  // that of report

namespace openset {
namespace {

// The metrics to compute, by --metrics or --convention.
absl::StatusOr<std::vector<ConventionMetric>> MetricsFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(Convention convention, FindConvention(absl::GetFlag(FLAGS_convention)));
  const std::string metrics = absl::GetFlag(FLAGS_metrics);
  if (metrics.empty()) return std::move(convention.metrics);
  if (convention.name != "openset") return absl::InvalidArgumentError("--metrics goes with --convention=openset only");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricSpec> specs, ParseMetrics("--metrics", metrics));
  std::vector<ConventionMetric> result;
  for (const MetricSpec& spec : specs) result.push_back({MetricName(spec), spec, 1, 0, RemarkOn(spec)});
  return result;
}

absl::StatusOr<std::vector<IntervalValue>> Intervals(const std::vector<MetricSpec>& metrics, const RankedInput& ranked,
                                                     const BootstrapOptions& options) {
  std::vector<IntervalValue> intervals(metrics.size());
  std::vector<MetricSpec> others;
  std::vector<size_t> place;
  for (size_t m = 0; m < metrics.size(); ++m) {
    const std::optional<PairStatistic> statistic = PairStatisticOf(metrics[m]);
    if (absl::GetFlag(FLAGS_ci_method) == "delong" && statistic.has_value()) {
      const absl::StatusOr<NormalInterval> interval = DeLongInterval(ranked, *statistic, options.confidence);
      if (interval.ok()) {
        intervals[m] = {interval->value, interval->low, interval->high, "", interval->note};
      } else {
        intervals[m].absent_reason = std::string(interval.status().message());
      }
    } else {
      others.push_back(metrics[m]);
      place.push_back(m);
    }
  }
  OPENSET_ASSIGN_OR_RETURN(std::vector<IntervalValue> rest, BootstrapIntervals(others, ranked, options));
  for (size_t i = 0; i < rest.size(); ++i) intervals[place[i]] = std::move(rest[i]);
  return intervals;
}

std::string IntervalText(const BootstrapOptions& options) {
  return absl::StrFormat("%g %% interval (%s, %d replicates, seed %d)", 100 * options.confidence,
                         absl::GetFlag(FLAGS_ci_method), options.replicates, options.seed);
}

// Of the number that a convention prints.
Display DisplayOfPrinted(const ConventionMetric& metric) {
  Display display = DisplayOf(metric.metric);
  display.factor /= std::abs(metric.factor);
  if (metric.factor == 1000) display.value_unit = "x1000";
  if (metric.factor < 0 && display.higher_is_better.has_value()) {
    display.higher_is_better = !*display.higher_is_better;
  }
  if (metric.offset != 0) display.label = absl::StrCat(metric.offset, " - ", display.label);
  return display;
}

// The number that a convention prints.
std::optional<double> Printed(const ConventionMetric& metric, const std::optional<double>& value) {
  if (!value.has_value()) return std::nullopt;
  return metric.offset + metric.factor * *value;
}

absl::StatusOr<EvaluationReport> MakeReport(const std::vector<ConventionMetric>& metrics, const SampleSet& samples,
                                            const RankedInput& ranked) {
  std::vector<MetricSpec> specs;
  for (const ConventionMetric& metric : metrics) specs.push_back(metric.metric);
  EvaluationReport report;
  report.num_known = ranked.total().known();
  report.num_unknown = ranked.total().unknown;
  report.num_classes = samples.num_classes;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricValue> values, Evaluate(specs, ranked));
  std::vector<IntervalValue> intervals;
  if (absl::GetFlag(FLAGS_ci)) {
    OPENSET_ASSIGN_OR_RETURN(const BootstrapOptions options, BootstrapOptionsFromFlags());
    OPENSET_ASSIGN_OR_RETURN(intervals, Intervals(specs, ranked, options));
    report.interval = IntervalText(options);
  }
  for (size_t m = 0; m < metrics.size(); ++m) {
    ReportedMetric reported;
    reported.name = metrics[m].printed_name;
    reported.display = DisplayOfPrinted(metrics[m]);
    reported.remark = metrics[m].remark;
    reported.value = Printed(metrics[m], values[m].value);
    reported.absent_reason = values[m].absent_reason;
    if (!intervals.empty() && values[m].value.has_value()) {
      reported.absent_reason = intervals[m].absent_reason;
      if (intervals[m].value.has_value()) {
        reported.low = Printed(metrics[m], intervals[m].low);
        reported.high = Printed(metrics[m], intervals[m].high);
        if (metrics[m].factor < 0) std::swap(reported.low, reported.high);
        if (!intervals[m].note.empty()) {
          absl::StrAppend(&reported.remark, reported.remark.empty() ? "" : "; ", "interval: ", intervals[m].note);
        }
      }
    }
    report.metrics.push_back(std::move(reported));
  }
  if (!samples.groups.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const GroupedValues grouped, EvaluateGroups(specs, ranked, samples.groups));
    std::vector<GroupValues> columns = grouped.groups;
    for (const GroupValues& mean : grouped.means) {
      columns.push_back(mean);
      columns.back().name = absl::StrCat("mean of ", mean.name);
    }
    columns.push_back(grouped.pool);
    std::vector<GroupInterval> group_intervals;
    if (absl::GetFlag(FLAGS_ci)) {
      OPENSET_ASSIGN_OR_RETURN(const BootstrapOptions options, BootstrapOptionsFromFlags());
      OPENSET_ASSIGN_OR_RETURN(group_intervals, GroupIntervals(specs, ranked, samples.groups, options));
    }
    for (size_t c = 0; c < columns.size(); ++c) {
      ReportedGroup group{columns[c].name, columns[c].unknown_samples, std::move(columns[c].values), {}};
      for (size_t m = 0; m < metrics.size(); ++m) {
        group.values[m].value = Printed(metrics[m], group.values[m].value);
        if (group_intervals.empty()) continue;
        const IntervalValue& interval = group_intervals[c].metrics[m];
        group.intervals.emplace_back();
        if (!interval.value.has_value()) continue;
        double low = *Printed(metrics[m], interval.low);
        double high = *Printed(metrics[m], interval.high);
        if (low > high) std::swap(low, high);
        group.intervals.back() = {low, high};
      }
      report.groups.push_back(std::move(group));
    }
  }
  if (!samples.known_sets.empty()) {
    OPENSET_ASSIGN_OR_RETURN(std::vector<GroupValues> sets,
                             EvaluateKnownSets(specs, ranked, samples.known_set, samples.known_sets));
    for (GroupValues& set : sets) {
      ReportedGroup group{set.name, set.known_samples, std::move(set.values), {}};
      for (size_t m = 0; m < metrics.size(); ++m) group.values[m].value = Printed(metrics[m], group.values[m].value);
      report.known_sets.push_back(std::move(group));
    }
  }
  for (const MetricSpec& spec : specs) {
    if (!spec.has_pooled_aurc() || report.num_unknown == 0) continue;
    for (const AurcPart& part : PooledAurcParts(ranked)) {
      const bool is_known = part.group == kUnknownLabel;
      const std::string name = is_known                 ? "known"
                               : samples.groups.empty() ? std::string("unknown")
                                                        : samples.groups[part.group].name;
      report.sources.push_back({name, part});
    }
    break;
  }
  return report;
}

absl::Status WriteCurves(const std::string& folder, const CurveFiles& curves) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, content] : curves.files) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, name), content));
  }
  std::vector<std::pair<std::string, VegaLite>> pictures;
  for (const auto& [name, chart] : curves.charts) pictures.emplace_back(JoinPath(folder, name + ".svg"), chart);
  return WriteVectorFiles(pictures);
}

absl::Status EvaluateSamples(const std::vector<std::string>& arguments, const std::vector<ConventionMetric>& metrics,
                             TextFormat format) {
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ReadScoredSamples(arguments));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  OPENSET_ASSIGN_OR_RETURN(EvaluationReport report, MakeReport(metrics, scored.samples, ranked));
  if (const std::string classes = absl::GetFlag(FLAGS_classes); !classes.empty()) {
    if (!input.has_predictions()) {
      return absl::InvalidArgumentError("--classes: accuracy needs predictions, and the samples have none");
    }
    const ConfusionMatrix closed_set = ConfusionAt(ranked, std::numeric_limits<double>::infinity());
    OPENSET_RETURN_IF_ERROR(
        WriteFileAtomically(UserPath(classes), AccuracyPerClassCsv(closed_set, scored.samples.class_names)));
  }
  report.notes = {absl::StrJoin(arguments, ", "), scored.note};
  if (const std::string folder = absl::GetFlag(FLAGS_curves); !folder.empty()) {
    const std::string summary = FormatEvaluation(report, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves, MakeCurveFiles(ranked, report.notes.front(), summary));
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(folder), curves));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatEvaluation(report, format)));
  for (const std::string& hint : EvaluationHints(ranked, scored.origin)) std::cerr << "hint: " << hint << "\n";
  return absl::OkStatus();
}

absl::Status EvaluateMethods(const std::vector<std::string>& arguments, const std::vector<ConventionMetric>& metrics,
                             TextFormat format) {
  if (!absl::GetFlag(FLAGS_classes).empty()) {
    return absl::InvalidArgumentError("--classes: goes with one method, not with --as=methods");
  }
  const std::string rows = absl::StrJoin(absl::GetFlag(FLAGS_rows), ",");
  if (!rows.empty() && rows != "metric" && rows != "method") {
    return absl::InvalidArgumentError(absl::StrCat("--rows: ", UnknownName("value", rows, {"metric", "method"})));
  }
  const MethodsLayout layout = rows == "method" ? MethodsLayout::kRowPerMethod : MethodsLayout::kRowPerMetric;
  const std::vector<std::string> names = MethodNames(arguments);
  std::deque<ScoredSamples> scored;
  std::deque<RankedInput> ranked;
  std::vector<MethodReport> reports;
  std::vector<RankedMethod> methods;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (std::find(arguments.begin(), arguments.begin() + i, arguments[i]) != arguments.begin() + i) {
      return absl::InvalidArgumentError(absl::StrCat("--as=methods: ", arguments[i], " is given twice"));
    }
    OPENSET_ASSIGN_OR_RETURN(scored.emplace_back(), ReadScoredSamples(absl::StrSplit(arguments[i], ',')));
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.back().samples.Input());
    methods.push_back({names[i], &ranked.emplace_back(input)});
    reports.push_back({names[i], {}});
    OPENSET_ASSIGN_OR_RETURN(reports.back().report, MakeReport(metrics, scored.back().samples, ranked.back()));
    reports.back().report.notes = {arguments[i], scored.back().note};
  }
  if (const std::string folder = absl::GetFlag(FLAGS_curves); !folder.empty()) {
    const std::string summary = FormatMethods(reports, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves,
                             MakeOverlaidCurveFiles(methods, absl::StrJoin(names, ", "), summary));
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(folder), curves));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatMethods(reports, format, layout)));
  for (size_t i = 0; i < names.size(); ++i) {
    for (const std::string& hint : EvaluationHints(ranked[i], scored[i].origin)) {
      std::cerr << "hint: " << names[i] << ": " << hint << "\n";
    }
  }
  return absl::OkStatus();
}

absl::Status RunEval(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, FormatFromFlags());
  const std::string as = absl::GetFlag(FLAGS_as);
  if (as != "samples" && as != "methods") {
    return absl::InvalidArgumentError(absl::StrCat("--as: ", UnknownName("value", as, {"samples", "methods"})));
  }
  if (as == "samples" && !absl::GetFlag(FLAGS_rows).empty()) {
    return absl::InvalidArgumentError("--rows: lays out the table of several methods; it goes with --as=methods");
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ConventionMetric> metrics, MetricsFromFlags());
  OPENSET_RETURN_IF_ERROR(BootstrapOptionsFromFlags().status());
  return as == "methods" ? EvaluateMethods(arguments, metrics, format) : EvaluateSamples(arguments, metrics, format);
}

}  // namespace

Command EvalCommand() {
  Command command;
  command.name = "eval";
  command.arguments = "FILE...";
  command.min_arguments = 1;
  command.max_arguments = 10000;
  command.summary = "Measures your own scores or logits: all metrics, intervals, curves.";
  command.description =
      "FILE is an .npz, a .csv, or single .npy arrays of the same samples. It has `label` (index of the known class,\n"
      "-1 = unknown), and `logits` or `unknown_score` (larger = more unknown). Beside a score, `prediction`; without\n"
      "it the metrics that need it are absent. docs/eval.md tells more, also of files that OpenOOD and FD-Shifts\n"
      "save. Several files are joined, sample after sample, or, with --as=methods, columns of one table.\n"
      "\n"
      "  openset eval scores.csv\n"
      "  openset eval logits.npz --score=energy --ci --format=json\n"
      "  openset eval logits.npz --curves=curves\n"
      "  openset eval logits.npz --metrics='auroc, openauc, partial_openauc { max_ofpr: 0.1 }'\n"
      "  openset eval label.npy unknown_score.npy prediction.npy\n"
      "  openset eval cifar10.npz cifar100.npz svhn.npz --near=cifar100 --far=svhn --convention=openood\n"
      "  openset eval raw_logits.npz --skip=0 --known=1 --far=2\n"
      "  openset eval softmax.npz energy.npz --as=methods --curves=curves --format=latex\n";
  command.flags = {"as", "rows", "format", "out", "metrics", "convention", "curves", "classes", "ci"};
  for (const std::vector<std::string>& more : {IntervalFlags(), SampleFlags()}) {
    command.flags.insert(command.flags.end(), more.begin(), more.end());
  }
  command.run = RunEval;
  return command;
}

}  // namespace openset
