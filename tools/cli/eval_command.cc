#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/files/formats/npy.h"
#include "core/files/formats/npz.h"
#include "core/process/heap.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/metrics/confusion.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/curve_files.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/evaluation_report.h"
#include "eval/statistics/delong.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/kinds.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

// The least and the most memory for which the heap takes huge pages.
constexpr int64_t kLeastHugeBytes = int64_t{1} << 24;
constexpr int64_t kMostHugeBytes = int64_t{1} << 31;

EvaluationRequest MakeEvaluationRequest(const RunConfig& config) {
  EvaluationRequest request;
  request.set_metrics(config.metrics);
  request.set_convention(config.convention);
  request.set_ci(config.ci);
  *request.mutable_interval() = MakeIntervalOptions(config);
  return request;
}

// The requested computations.
struct Request {
  std::vector<ConventionMetric> metrics;
  std::optional<SampleIntervals> intervals;
  TextFormat format = TextFormat::kText;
};

// Writes the page and the tables; if this machine can't draw pictures, a hint says why there are none.
absl::Status WriteCurves(const std::string& folder, const CurveFiles& curves, std::vector<std::string>* hints) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, content] : curves.files) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, name), content));
  }
  std::vector<std::pair<std::string, VegaLite>> pictures;
  for (const auto& [name, chart] : curves.charts) pictures.emplace_back(JoinPath(folder, name + ".svg"), chart);
  const absl::Status drawn = WriteVectorFiles(pictures);
  if (!absl::IsInternal(drawn)) return drawn;
  hints->push_back(absl::StrCat(folder, " has the page and the tables, and no pictures: ", drawn.message()));
  return absl::OkStatus();
}

// As `openset eval` and `compare` read them.
absl::Status WriteSampleScores(const std::string& path, const SampleSet& samples) {
  if (!absl::EndsWith(path, ".npz")) {
    return absl::InvalidArgumentError(absl::StrCat("--sample_scores: ", path, " doesn't end in .npz"));
  }
  const std::vector<int64_t> label(samples.label.begin(), samples.label.end());
  NpzArrays arrays = {{"unknown_score", MakeNpy(samples.unknown_score, {samples.num_samples})},
                      {"label", MakeNpy(label, {samples.num_samples})}};
  if (!samples.groups.empty()) {
    std::vector<int64_t> group(samples.group.begin(), samples.group.end());
    for (size_t i = 0; i < group.size(); ++i) {
      if (label[i] != kUnknownLabel) group[i] = -1;
    }
    std::vector<std::string> names;
    for (const Group& one : samples.groups) names.push_back(one.name);
    arrays["group"] = MakeNpy(group, {samples.num_samples});
    arrays["group_names"] = MakeNpy(names);
  }
  if (!samples.cluster.empty()) arrays["cluster"] = MakeNpy(samples.cluster, {samples.num_samples});
  if (!samples.prediction.empty()) {
    const std::vector<int64_t> prediction(samples.prediction.begin(), samples.prediction.end());
    arrays["prediction"] = MakeNpy(prediction, {samples.num_samples});
  }
  return WriteNpzAtomically(path, arrays);
}

// Says before a long bootstrap how to have it shorter.
void HintIfLong(const Request& request, const SampleSet& samples) {
  if (!request.intervals.has_value()) return;
  const bool draws = !request.intervals->delong || absl::c_any_of(request.metrics, [](const ConventionMetric& metric) {
    return !PairStatisticOf(metric.metric).has_value();
  });
  const std::string hint = draws ? LongBootstrapHint(samples.num_samples, request.intervals->bootstrap.replicates) : "";
  if (!hint.empty()) std::cerr << "hint: " << hint << "\n";
}

absl::Status EvalAsSamples(const std::vector<std::string>& arguments, const Request& request, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ReadScoredSamples(arguments, config, FitReader(config)));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  HintIfLong(request, scored.samples);
  OPENSET_ASSIGN_OR_RETURN(EvaluationReport report,
                           EvaluateSamples(request.metrics, scored.samples, ranked, request.intervals));
  if (!config.classes.empty()) {
    if (!input.has_predictions() || !input.has_classes()) {
      return absl::InvalidArgumentError("--classes: needs predicted classes, and the samples have none");
    }
    OPENSET_RETURN_IF_ERROR(
        WriteFileAtomically(UserPath(config.classes), AccuracyPerClassCsv(ranked, scored.samples.class_names)));
  }
  if (!config.sample_scores.empty()) {
    OPENSET_RETURN_IF_ERROR(WriteSampleScores(UserPath(config.sample_scores), scored.samples));
  }
  report.notes = {absl::StrJoin(arguments, ", "), scored.note};
  std::vector<std::string> hints = EvaluationHints(scored.samples, ranked, scored.origin);
  if (!config.curves.empty()) {
    const std::string summary = FormatEvaluation(report, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves, MakeCurveFiles(ranked, report.notes.front(), summary));
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(config.curves), curves, &hints));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatEvaluation(report, request.format), config));
  for (const std::string& hint : hints) std::cerr << "hint: " << hint << "\n";
  return absl::OkStatus();
}

absl::Status EvalAsMethods(const std::vector<std::string>& arguments, const Request& request, const RunConfig& config) {
  if (!config.classes.empty()) {
    return absl::InvalidArgumentError("--classes: goes with one method, not with --as=methods");
  }
  if (!config.sample_scores.empty()) {
    return absl::InvalidArgumentError("--sample_scores: goes with one method, not with --as=methods");
  }
  const std::string rows = absl::StrJoin(config.rows, ",");
  if (!rows.empty() && rows != "metric" && rows != "method") {
    return absl::InvalidArgumentError(absl::StrCat("--rows: ", UnknownName("value", rows, {"metric", "method"})));
  }
  const MethodsLayout layout = rows == "method" ? MethodsLayout::kRowPerMethod : MethodsLayout::kRowPerMetric;
  const std::vector<std::string> names = MethodNames(arguments);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<SampleReader> fits, FitReaders(config, arguments.size()));
  std::deque<ScoredSamples> scored;
  std::deque<RankedInput> ranked;
  std::vector<MethodReport> reports;
  std::vector<RankedMethod> methods;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (std::find(arguments.begin(), arguments.begin() + i, arguments[i]) != arguments.begin() + i) {
      return absl::InvalidArgumentError(absl::StrCat("--as=methods: ", arguments[i], " is given twice"));
    }
    OPENSET_ASSIGN_OR_RETURN(scored.emplace_back(),
                             ReadScoredSamples(absl::StrSplit(arguments[i], ','), config, fits[i]));
    OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.back().samples.Input());
    methods.push_back({names[i], &ranked.emplace_back(input)});
    reports.push_back({names[i], {}});
    HintIfLong(request, scored.back().samples);
    OPENSET_ASSIGN_OR_RETURN(reports.back().report,
                             EvaluateSamples(request.metrics, scored.back().samples, ranked.back(), request.intervals));
    reports.back().report.notes = {arguments[i], scored.back().note};
  }
  if (!config.curves.empty()) {
    const std::string summary = FormatMethods(reports, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves,
                             MakeOverlaidCurveFiles(methods, absl::StrJoin(names, ", "), summary));
    std::vector<std::string> hints;
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(config.curves), curves, &hints));
    for (const std::string& hint : hints) std::cerr << "hint: " << hint << "\n";
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatMethods(reports, request.format, layout), config));
  for (size_t i = 0; i < names.size(); ++i) {
    for (const std::string& hint : EvaluationHints(scored[i].samples, ranked[i], scored[i].origin)) {
      std::cerr << "hint: " << names[i] << ": " << hint << "\n";
    }
  }
  return absl::OkStatus();
}

// The size on disk of the arguments that are files. Reading them reports errors.
int64_t BytesOf(const std::vector<std::string>& arguments) {
  int64_t bytes = 0;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const uintmax_t size = std::filesystem::file_size(argument, error);
    if (!error) bytes += static_cast<int64_t>(std::min<uintmax_t>(size, kMostHugeBytes));
  }
  return bytes;
}

absl::Status RunEval(const std::vector<std::string>& arguments, const RunConfig& config) {
  // Arrays, converted, ranked and counted, take five times their files.
  if (const int64_t bytes = 5 * BytesOf(arguments); bytes >= kLeastHugeBytes) {
    TakeHugePages(std::min(bytes, kMostHugeBytes));
  }
  Request request;
  OPENSET_ASSIGN_OR_RETURN(request.format, ParseFormat(config));
  if (config.as != "samples" && config.as != "methods") {
    return absl::InvalidArgumentError(absl::StrCat("--as: ", UnknownName("value", config.as, {"samples", "methods"})));
  }
  if (config.as == "samples" && !config.rows.empty()) {
    return absl::InvalidArgumentError("--rows: lays out the table of several methods; it goes with --as=methods");
  }
  OPENSET_ASSIGN_OR_RETURN(request.metrics, RequestedMetrics(MakeEvaluationRequest(config)));
  OPENSET_ASSIGN_OR_RETURN(request.intervals, RequestedIntervals(MakeEvaluationRequest(config)));
  return config.as == "methods" ? EvalAsMethods(arguments, request, config) : EvalAsSamples(arguments, request, config);
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
      "FILE is an .npz, a .csv, or single .npy arrays for the same samples. It contains `label` (index of the known\n"
      "class, -1 = unknown), and `logits` or `unknown_score` (larger = more unknown). With a score, give\n"
      "`prediction` too; without it, the metrics that need it are absent. docs/eval.md has the details, also for\n"
      "files that OpenOOD and FD-Shifts save. Several files are joined in order or, with --as=methods, are columns\n"
      "of one table. If this machine can't draw pictures, --curves writes the page and the tables, and a hint says "
      "so;\n"
      "the exit code is then 0.\n"
      "\n"
      "  openset eval scores.csv\n"
      "  openset eval logits.npz --score=energy --ci --format=json\n"
      "  openset eval logits.npz --curves=curves\n"
      "  openset eval logits.npz --metrics='auroc, openauc, partial_openauc { max_ofpr: 0.1 }'\n"
      "  openset eval label.npy unknown_score.npy prediction.npy\n"
      "  openset eval cifar10.npz cifar100.npz svhn.npz --near=cifar100 --far=svhn --convention=openood\n"
      "  openset eval raw_logits.npz --skip=0 --known=1 --far=2\n"
      "  openset eval softmax.npz energy.npz --as=methods --curves=curves --format=latex\n";
  command.flags = {"as", "rows", "format", "out", "metrics", "convention", "curves", "classes", "sample_scores", "ci"};
  for (const std::vector<std::string>& more : {IntervalFlags(), SampleFlags()}) {
    command.flags.insert(command.flags.end(), more.begin(), more.end());
  }
  command.run = RunEval;
  return command;
}

}  // namespace openset
