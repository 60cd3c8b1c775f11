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

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
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
#include "eval/metrics/metric.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/curve_files.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/evaluation_hints.h"
#include "eval/report/evaluation_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/kinds.h"
#include "tools/evaluation/requested.h"

ABSL_FLAG(bool, ci, false, "Compute confidence intervals.");
ABSL_FLAG(std::string, as, "samples",
          "What several FILEs are: samples, which are joined in order, or methods, which are measured one by one and "
          "shown in one table (a FILE may then be several files joined by commas).");
ABSL_FLAG(std::string, curves, "",
          "Folder for the curves, as .csv and .svg files and as one page: ROC, OSCR, risk over coverage, scores, "
          "reliability. With --as=methods: the first three, each with all methods in one picture.");
ABSL_FLAG(std::string, classes, "", "A .csv file to write the closed-set accuracy of each known class to.");
ABSL_FLAG(std::string, sample_scores, "",
          "A .npz file to write the unknown score of each sample to, and its prediction if there is one.");
ABSL_FLAG(std::string, convention, "openset",
          "Use the metrics, names and rules of this tool: openset, openood, pytorch_ood, odin, oe, udb, arpl, "
          "fd_shifts, torch_uncertainty or released (OpenAUC).");

ABSL_DECLARE_FLAG(std::vector<std::string>, rows);  // defined by report

namespace openset {
namespace {

// The least and the most memory for which the heap takes huge pages.
constexpr int64_t kLeastHugeBytes = int64_t{1} << 24;
constexpr int64_t kMostHugeBytes = int64_t{1} << 31;

EvaluationRequest RequestFromFlags() {
  EvaluationRequest request;
  request.set_metrics(absl::GetFlag(FLAGS_metrics));
  request.set_convention(absl::GetFlag(FLAGS_convention));
  request.set_ci(absl::GetFlag(FLAGS_ci));
  *request.mutable_interval() = IntervalOptionsFromFlags();
  return request;
}

// The requested computations.
struct Request {
  std::vector<ConventionMetric> metrics;
  std::optional<SampleIntervals> intervals;
  TextFormat format = TextFormat::kText;
};

absl::Status WriteCurves(const std::string& folder, const CurveFiles& curves) {
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [name, content] : curves.files) {
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(folder, name), content));
  }
  std::vector<std::pair<std::string, VegaLite>> pictures;
  for (const auto& [name, chart] : curves.charts) pictures.emplace_back(JoinPath(folder, name + ".svg"), chart);
  return WriteVectorFiles(pictures);
}

absl::Status WriteSampleScores(const std::string& path, const SampleSet& samples) {
  NpzArrays arrays = {{"unknown_score", MakeNpy(samples.unknown_score, {samples.num_samples})}};
  if (!samples.prediction.empty()) {
    const std::vector<int64_t> prediction(samples.prediction.begin(), samples.prediction.end());
    arrays["prediction"] = MakeNpy(prediction, {samples.num_samples});
  }
  return WriteNpzAtomically(path, arrays);
}

absl::Status EvalAsSamples(const std::vector<std::string>& arguments, const Request& request) {
  OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ReadScoredSamples(arguments));
  OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
  const RankedInput ranked(input);
  OPENSET_ASSIGN_OR_RETURN(EvaluationReport report,
                           EvaluateSamples(request.metrics, scored.samples, ranked, request.intervals));
  if (const std::string classes = absl::GetFlag(FLAGS_classes); !classes.empty()) {
    if (!input.has_predictions() || !input.has_classes()) {
      return absl::InvalidArgumentError("--classes: needs predicted classes, and the samples have none");
    }
    OPENSET_RETURN_IF_ERROR(
        WriteFileAtomically(UserPath(classes), AccuracyPerClassCsv(ranked, scored.samples.class_names)));
  }
  if (const std::string path = absl::GetFlag(FLAGS_sample_scores); !path.empty()) {
    OPENSET_RETURN_IF_ERROR(WriteSampleScores(UserPath(path), scored.samples));
  }
  report.notes = {absl::StrJoin(arguments, ", "), scored.note};
  if (const std::string folder = absl::GetFlag(FLAGS_curves); !folder.empty()) {
    const std::string summary = FormatEvaluation(report, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves, MakeCurveFiles(ranked, report.notes.front(), summary));
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(folder), curves));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatEvaluation(report, request.format)));
  for (const std::string& hint : EvaluationHints(scored.samples, ranked, scored.origin))
    std::cerr << "hint: " << hint << "\n";
  return absl::OkStatus();
}

absl::Status EvalAsMethods(const std::vector<std::string>& arguments, const Request& request) {
  if (!absl::GetFlag(FLAGS_classes).empty()) {
    return absl::InvalidArgumentError("--classes: goes with one method, not with --as=methods");
  }
  if (!absl::GetFlag(FLAGS_sample_scores).empty()) {
    return absl::InvalidArgumentError("--sample_scores: goes with one method, not with --as=methods");
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
    OPENSET_ASSIGN_OR_RETURN(reports.back().report,
                             EvaluateSamples(request.metrics, scored.back().samples, ranked.back(), request.intervals));
    reports.back().report.notes = {arguments[i], scored.back().note};
  }
  if (const std::string folder = absl::GetFlag(FLAGS_curves); !folder.empty()) {
    const std::string summary = FormatMethods(reports, TextFormat::kText);
    OPENSET_ASSIGN_OR_RETURN(const CurveFiles curves,
                             MakeOverlaidCurveFiles(methods, absl::StrJoin(names, ", "), summary));
    OPENSET_RETURN_IF_ERROR(WriteCurves(UserPath(folder), curves));
  }
  OPENSET_RETURN_IF_ERROR(WriteOut(FormatMethods(reports, request.format, layout)));
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

absl::Status RunEval(const std::vector<std::string>& arguments) {
  // Arrays, converted, ranked and counted, take five times their files.
  if (const int64_t bytes = 5 * BytesOf(arguments); bytes >= kLeastHugeBytes) {
    TakeHugePages(std::min(bytes, kMostHugeBytes));
  }
  Request request;
  OPENSET_ASSIGN_OR_RETURN(request.format, FormatFromFlags());
  const std::string as = absl::GetFlag(FLAGS_as);
  if (as != "samples" && as != "methods") {
    return absl::InvalidArgumentError(absl::StrCat("--as: ", UnknownName("value", as, {"samples", "methods"})));
  }
  if (as == "samples" && !absl::GetFlag(FLAGS_rows).empty()) {
    return absl::InvalidArgumentError("--rows: lays out the table of several methods; it goes with --as=methods");
  }
  OPENSET_ASSIGN_OR_RETURN(request.metrics, RequestedMetrics(RequestFromFlags()));
  OPENSET_ASSIGN_OR_RETURN(request.intervals, RequestedIntervals(RequestFromFlags()));
  return as == "methods" ? EvalAsMethods(arguments, request) : EvalAsSamples(arguments, request);
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
      "of one table.\n"
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
