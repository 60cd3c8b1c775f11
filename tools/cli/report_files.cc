#include "tools/cli/report_files.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/in_parallel.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "data/splits/class_splits.h"
#include "eval/metrics/metric.h"
#include "experiments/report/examples.h"
#include "experiments/report/exports.h"
#include "experiments/report/format_report.h"
#include "experiments/report/hints.h"
#include "experiments/report/html_report.h"
#include "experiments/report/report_tables.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/spec_changes.h"
#include "experiments/spec/trial.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/study/failures.h"
#include "models/model.pb.h"
#include "nlohmann/json.hpp"
#include "tools/cli/score/one_run.h"

namespace openset {

size_t TableWidth() {
  constexpr size_t kLeast = 40;
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kTextWidth;
  return std::max<size_t>(kLeast, size.ws_col);
}

namespace {

constexpr int kMost = 3;

// For each task: with cross-validation, each class split occurs once for each fold.
KnownClassesOfTasks KnownClassesOf(const Experiment& experiment) {
  KnownClassesOfTasks known;
  for (const TaskSpec& task : experiment.tasks) {
    const absl::StatusOr<std::vector<ClassSplit>> splits = ClassSplitsOf(task, experiment.catalog);
    if (!splits.ok()) continue;
    for (const ClassSplit& split : *splits) {
      for (int fold = 0; fold < Folds(task); ++fold) {
        known[task.name()].emplace_back(split.known().begin(), split.known().end());
      }
    }
  }
  return known;
}

// Whether `openset score` made the study: it is in no file, and about one network.
bool IsByFlags(const Study& study) { return !FileExists(study.experiment().source.file()); }

// The indices of the known classes in the outputs of a script or a file of weights, in the matching order.
std::string OutputsOf(const ResultHint& hint) {
  const ModelSpec& model = hint.trial->method().model();
  const auto& given = model.has_torch_script() ? model.torch_script().output() : model.weights().output();
  std::vector<int> places;
  for (const int prediction : hint.prediction_of) places.push_back(given.empty() ? prediction : given.Get(prediction));
  return absl::StrJoin(places, ",");
}

// What the user should check. `by_flags`: for `openset score`.
std::string Advice(const ResultHint& hint, bool by_flags) {
  const MethodSpec& method = hint.trial->method();
  const bool is_script = method.model().has_torch_script();
  switch (hint.kind) {
    case ResultHint::Kind::kOtherSplit:
      return by_flags ? absl::StrCat("was the network trained on that one? --split=", hint.split, " measures it there")
                      : absl::StrCat("was the network trained on that one? split: ", hint.split);
    case ResultHint::Kind::kOtherOrder:
      if (!is_script && !by_flags) return "are the weights of this split and task, with its classes in this order?";
      return absl::StrCat(by_flags ? "--outputs=" : "torch_script.output: ", OutputsOf(hint),
                          " puts the network's outputs into that order; or it was trained on another split");
    case ResultHint::Kind::kNearChance:
      if (method.has_training()) {
        return "check the training (epochs, learning rate, its curve: openset figure SPEC --curve=loss) and input "
               "(mean, std)";
      }
      if (!by_flags) {
        return is_script ? "check input (size, mean, std), torch_script.output and split"
                         : "check input (size, mean, std), model.weights and split";
      }
      return is_script ? "check --mean, --std, --size, --outputs, --split"
                       : "check --mean, --std, --size, --weights, --split";
    case ResultHint::Kind::kBelowHalf:
      if (method.has_training()) return "check which classes are unknown, and the score's settings";
      return by_flags ? "check --split and the task's unknown classes; else these scores don't fit this network"
                      : "check split and the task's unknown classes; else these scores don't fit this network";
  }
  return "";
}

}  // namespace

std::vector<std::string> HintLines(const Study& study, const StudyResults& results) {
  const bool by_flags = IsByFlags(study);
  std::vector<std::string> lines;
  std::map<ResultHint::Kind, int> count;
  for (const ResultHint& hint : FindHints(results.results, KnownClassesOf(study.experiment()))) {
    if (++count[hint.kind] > kMost) continue;
    const bool is_of_one = !by_flags && hint.kind != ResultHint::Kind::kBelowHalf;
    lines.push_back(absl::StrCat("hint: ", is_of_one ? absl::StrCat(Describe(*hint.trial), ": ") : "", hint.text, ": ",
                                 Advice(hint, by_flags)));
  }
  for (const auto& [kind, number] : count) {
    if (number > kMost)
      lines.push_back(absl::StrCat("hint: the same holds for ", number - kMost,
                                   number - kMost == 1 ? " more training" : " more trainings"));
  }
  return lines;
}

namespace {

// Formats and the ends of their files' names.
constexpr std::pair<TextFormat, const char*> kFormats[] = {
    {TextFormat::kText, "report.txt"}, {TextFormat::kMarkdown, "report.md"}, {TextFormat::kLatex, "report.tex"},
    {TextFormat::kCsv, "report.csv"},  {TextFormat::kTidy, "tidy.csv"},      {TextFormat::kJson, "report.json"},
    {TextFormat::kHtml, "report.html"}};

constexpr const char* kOtherEndings[] = {".parquet", ".xlsx", ".pdf", ".png", ".svg", ".zip", ".npz"};

constexpr int64_t kMaxReportBytes = int64_t{1} << 30;

std::string SpecSha256(const Study& study) { return Sha256Hex(ToText(study.experiment().spec)); }

// The class names of the data sets and, if requested and the data is available, the images of mistakes.
ExampleContext ExamplesContext(const Study& study, const StudyResults& results, bool with_images) {
  ExampleContext context;
  const Catalog& catalog = study.experiment().catalog;
  const std::vector<ExampleTrial> examples = ExamplesOf(results.results);
  context.class_names = ClassNamesOf(examples, catalog);
  if (!with_images) return context;
  OpenParts open_parts;
  // Missing data is not an error: the page then has no images.
  const auto sheet_of = [&](const ExampleTrial& example) {
    absl::StatusOr<std::vector<std::string>> samples =
        MistakenSamples(*example.trial, *example.record, catalog, study.data_folders(), &open_parts);
    if (samples.ok()) context.samples[example.record->trial_id()] = *std::move(samples);
    return MistakeSheet(*example.trial, *example.record, catalog, study.data_folders(), &open_parts).value_or("");
  };
  AddSheets(examples, sheet_of, &context);
  return context;
}

Report ReportOf(const Study& study, const StudyResults& results) {
  Report report = study.MakeReport(results);
  report.spec_sha256 = SpecSha256(study);
  if (report.missing > 0) AddFailures(study, results, FailuresOf(study), &report);
  if (!IsByFlags(study)) return report;
  // One network, and the question which score is best on it. With rows for splits, the order is the study's.
  if (report.rows.empty()) report.sort_by = MetricName(study.experiment().spec.metric(0));
  if (const absl::Status marked = MarkAmongBest(study, results, &report); !marked.ok()) {
    report.note_lines.push_back(absl::StrCat("No marks of the best AUROC: ", marked.message()));
  }
  return report;
}

absl::StatusOr<std::string> Page(const Study& study, const StudyResults& results, const Report& report,
                                 bool with_images) {
  ReportContext context;
  context.question = study.experiment().spec.question();
  // A study that `openset score` made is in no file.
  const Experiment& experiment = study.experiment();
  context.spec = ReadFile(experiment.source.file(), kMaxTextBytes).value_or(ToText(experiment.spec));
  ExperimentSpec written;
  if (!experiment.overrides.empty() && ParseTextProto(context.spec, experiment.source.file(), &written).ok()) {
    context.changed_spec = ChangedSpecLines(written, experiment.spec, experiment.overrides);
  }
  for (const StudyFailure& failure : FailuresOf(study)) {
    context.failures.push_back(absl::StrCat(failure.what, failure.log_tail.empty() ? "" : "\n\n", failure.log_tail));
  }
  context.examples = ExamplesContext(study, results, with_images);
  return HtmlReport(report, results.results, context);
}

// `report`: of `results`. `width`: of text.
absl::StatusOr<std::string> As(TextFormat format, const Study& study, const StudyResults& results, const Report& report,
                               size_t width) {
  if (format == TextFormat::kHtml) return Page(study, results, report, /*with_images=*/true);
  if (format == TextFormat::kTidy) return ToCsv(TidyTable(results.results));
  return FormatReport(report, format, width);
}

absl::Status LayOut(const ReportLayout& layout, Report* report) {
  if (!layout.rows.empty() || !layout.columns.empty()) {
    OPENSET_RETURN_IF_ERROR(CheckLayout(*report, "--rows", layout.rows));
    OPENSET_RETURN_IF_ERROR(CheckLayout(*report, "--columns", layout.columns));
    report->rows = layout.rows;
    report->columns = layout.columns;
  }
  if (!layout.sort_by.empty()) {
    OPENSET_RETURN_IF_ERROR(CheckSort(*report, "--sort", layout.sort_by));
    report->sort_by = layout.sort_by;
  }
  report->spread = layout.spread;
  for (ReportCell& cell : report->cells) cell.display.digits = layout.digits.value_or(cell.display.digits);
  return absl::OkStatus();
}

constexpr char kJsonFile[] = "report.json";

// Whether the tables in a folder are of another spec, or of an older version, which doesn't say. Reads only the
// beginning of report.json, where its second field says so: a run asks before it starts, and the file may have
// gigabytes.
bool IsOfAnotherSpec(const std::string& folder, const Study& study) {
  absl::StatusOr<InputFile> file = OpenRegularFile(JoinPath(folder, kJsonFile));
  if (!file.ok()) return false;
  std::string begin(4096, '\0');
  begin.resize(file->Read(begin.data(), begin.size()).value_or(0));
  return !absl::StrContains(begin, absl::StrCat("\"spec_sha256\": \"", SpecSha256(study), "\""));
}

// The number of a report's trials with a result; 0 if there is no report.
int ResultsOf(const std::string& folder) {
  const nlohmann::json report =
      nlohmann::json::parse(ReadFile(JoinPath(folder, kJsonFile), kMaxReportBytes).value_or(""),
                            /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!report.is_object()) return 0;
  const auto number = [&](const char* name) {
    const auto found = report.find(name);
    return found != report.end() && found->is_number_integer() ? found->get<int>() : 0;
  };
  return number("trials") - number("missing");
}

}  // namespace

absl::Status CheckReportName(TextFormat format, const std::string& out) {
  const std::string ending = std::filesystem::path(out).extension().string();
  std::vector<std::string> known;
  std::string meant;
  for (const auto& [other, file] : kFormats) {
    const std::string own = std::filesystem::path(file).extension().string(), name = FormatName(other);
    if (other == format && ending == own) return absl::OkStatus();
    if (ending == own && meant.empty()) meant = name;
    if (other != TextFormat::kTidy) known.push_back(absl::StrCat(name, " (", own, ")"));
  }
  if (!meant.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--out: ", out, " has the extension of ", meant, ", but --format=", FormatName(format),
                     " was requested; add --format=", meant, ", or give the file another name"));
  }
  if (!absl::c_linear_search(kOtherEndings, ending)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--out: report can't write ", ending, "; its formats are ",
                                                 absl::StrJoin(known, ", "), ", chosen by --format"));
}

absl::StatusOr<std::string> ReportAs(TextFormat format, const Study& study, const StudyResults& results,
                                     const ReportLayout& layout, size_t width) {
  Report report = ReportOf(study, results);
  OPENSET_RETURN_IF_ERROR(LayOut(layout, &report));
  return As(format, study, results, report, width);
}

absl::StatusOr<std::string> RecordsReportAs(TextFormat format, const std::string& name, const ExperimentSpec& spec,
                                            std::vector<TrialRecord> records, const ReportLayout& layout, size_t width,
                                            const std::vector<std::string>& notes) {
  const RecordResults made = ResultsOf(std::move(records), spec.method());
  if (format == TextFormat::kTidy) return ToCsv(TidyTable(made.results));
  Report report = MakeReport(name, made.results);
  report.note_lines.insert(report.note_lines.end(), made.notes.begin(), made.notes.end());
  report.note_lines.insert(report.note_lines.end(), notes.begin(), notes.end());
  OPENSET_RETURN_IF_ERROR(LayOut(layout, &report));
  if (format == TextFormat::kHtml) return HtmlReport(report, made.results, {});
  return FormatReport(report, format, width);
}

absl::Status WriteTensorBoard(const Study& study, const std::string& folder) {
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  const auto files = TensorBoardFiles(results->results);
  if (files.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(study.name(), ": no trial has a record yet; run the study first"));
  }
  for (const auto& [path, content] : files) {
    const std::string file = JoinPath(folder, path);
    OPENSET_RETURN_IF_ERROR(MakeFolders(file.substr(0, file.rfind('/'))));
    OPENSET_RETURN_IF_ERROR(WriteFileAtomically(file, content));
  }
  std::cout << folder << ": " << files.size() << (files.size() == 1 ? " run\n" : " runs\n");
  return absl::OkStatus();
}

std::string ReportPagePath(const Study& study) {
  return JoinPath(study.store().ReportFolder(study.report_name()), "report.html");
}

std::string StaleTablesText(const Study& study) {
  const std::string folder = study.store().ReportFolder(study.report_name());
  if (!IsOfAnotherSpec(folder, study)) return "";
  return absl::StrCat("the tables in ", folder,
                      " (all but report.html) are of another form of this study, until this run ends");
}

absl::Status WriteReportPage(const Study& study) {
  if (!FileExists(study.experiment().source.file())) return absl::OkStatus();
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  OPENSET_ASSIGN_OR_RETURN(const std::string page,
                           Page(study, *results, ReportOf(study, *results), /*with_images=*/false));
  const std::string path = ReportPagePath(study);
  OPENSET_RETURN_IF_ERROR(study.store().Make());
  OPENSET_RETURN_IF_ERROR(MakeFolders(study.store().ReportFolder(study.report_name())));
  return WriteFileAtomically(path, page);
}

namespace {

absl::Status WriteReportFiles(const Study& study, const StudyResults& results, const Report& report,
                              const std::string& folder) {
  OPENSET_RETURN_IF_ERROR(study.store().Make());
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  constexpr size_t kCount = std::size(kFormats);
  absl::Status written[kCount];
  InParallel(kCount, [&](int64_t f) {
    const auto& [format, file] = kFormats[kCount - 1 - f];  // the slowest first
    const absl::StatusOr<std::string> text = As(format, study, results, report, kTextWidth);
    written[f] = text.ok() ? WriteFileAtomically(JoinPath(folder, file), *text) : text.status();
  });
  for (const absl::Status& status : written) OPENSET_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteAndShowReport(const Study& study, bool keep_fuller) {
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  const Report report = ReportOf(study, *results);
  const std::string folder = study.store().ReportFolder(study.report_name());
  const int here = report.trials - report.missing;
  const bool may_stay = keep_fuller || !results->unread.unreadable.empty();
  const int there = may_stay && !IsOfAnotherSpec(folder, study) ? ResultsOf(folder) : 0;
  const absl::Status written = there <= here ? WriteReportFiles(study, *results, report, folder) : absl::OkStatus();
  std::cout << "\n"
            << FormatReport(report, TextFormat::kText, TableWidth())
            << "\nrecords: " << JoinPath(study.store().folder(), "records");
  if (written.ok() && there <= here) {
    std::cout << "\nreport:  " << folder << "/report.{html,txt,md,tex,csv,json}, tidy.csv";
  } else if (written.ok()) {
    std::cout << "\nreport:  " << folder
              << "/report.html; the tables beside it (report.{txt,md,tex,csv,json}, tidy.csv) "
              << "are of an earlier run: it has " << there << " results, this one " << here;
  }
  std::cout << std::endl;
  for (const std::string& line : HintLines(study, *results)) std::cerr << line << "\n";
  if (!written.ok()) {
    return absl::Status(written.code(), absl::StrCat(written.message(),
                                                     "; only the report's files are missing: the "
                                                     "records are stored, and the same command writes the report"));
  }
  return keep_fuller ? absl::OkStatus() : results->unread.ReadFailure();
}

}  // namespace openset
