#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/wrapped_text.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/cli/report_files.h"
#include "tools/cli/score/score_experiment.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

// The width of text: the terminal's, if the output is one.
size_t Width(const RunConfig& config) { return config.out.empty() ? TableWidth() : kTextWidth; }

// Errors: an invalid spread or number of digits.
absl::StatusOr<ReportLayout> MakeLayout(const RunConfig& config) {
  ReportLayout layout;
  layout.rows = config.rows;
  layout.columns = config.columns;
  const absl::StatusOr<Spread> spread = ParseSpread(config.spread);
  if (!spread.ok()) return Annotate(spread.status(), "--spread");
  layout.spread = *spread;
  const int digits = config.digits;
  if (digits < -1 || digits > 12) {
    return absl::InvalidArgumentError(absl::StrCat("--digits: must lie in 0 .. 12, or be -1 (is ", digits, ")"));
  }
  if (digits >= 0) layout.digits = digits;
  if (!config.sort.empty()) layout.sort_by = SuggestedMetric(config.sort);
  return layout;
}

// The first given flag for the layout of tables, if any.
std::string LayoutFlag(const ReportLayout& layout) {
  if (!layout.rows.empty()) return "--rows";
  if (layout.spread != Spread::kPopulation) return "--spread";
  if (layout.digits.has_value()) return "--digits";
  return layout.sort_by.empty() ? "" : "--sort";
}

// A line for each of these trials whose records in the store have different numbers, as in a study's report.
std::vector<std::string> DifferingLines(const Store& store, const std::vector<TrialRecord>& records,
                                        UnreadRecords* unread) {
  std::vector<std::string> found;
  const std::vector<std::string> with_replicas = ReplicaIds(store, unread);
  for (const TrialRecord& record : records) {
    if (!absl::c_binary_search(with_replicas, record.trial_id())) continue;
    const absl::StatusOr<std::vector<TrialRecord>> all = LoadReplicas(store, record.trial_id());
    unread->Add(all.status());
    const std::vector<std::string> lines = all.ok() ? DifferenceLines(*all) : std::vector<std::string>{};
    if (!lines.empty()) found.push_back(absl::StrCat(Describe(record.trial()), ": ", absl::StrJoin(lines, "; ")));
  }
  return found;
}

// The records of a store that match, or all records of a bundle. `notes` receives DifferingLines().
absl::StatusOr<std::vector<TrialRecord>> RecordsOf(const Store& store, const std::string& text, absl::Status* problems,
                                                   std::vector<std::string>* notes) {
  UnreadRecords unread;
  if (IsBundle(text)) {
    std::vector<TrialRecord> records = LoadFirstRecords(store, &unread);
    *notes = DifferingLines(store, records, &unread);
    *problems = unread.Problems();
    return records;
  }
  OPENSET_ASSIGN_OR_RETURN(RecordQuery query, RecordQuery::Parse(text));
  const std::vector<RecordFields> all = LoadFields(store, &unread);
  OPENSET_RETURN_IF_ERROR(query.Resolve(all));
  for (const std::string& line : unread.VersionLines()) std::cerr << line << "\n";
  std::vector<TrialRecord> records;
  for (const RecordFields& fields : all) {
    if (!query.Matches(fields)) continue;
    OPENSET_ASSIGN_OR_RETURN(records.emplace_back(), LoadFirstRecord(store, Find(fields, "trial")->value));
  }
  *notes = DifferingLines(store, records, &unread);
  *problems = unread.Problems();
  if (records.empty()) OPENSET_RETURN_IF_ERROR(unread.ReadFailure());
  if (records.empty()) return absl::NotFoundError(absl::StrCat("no record of ", store.folder(), " matches"));
  return records;
}

// A report of a bundle, or of the store's records that match a query, without the study and its data.
absl::Status ReportOnRecords(const std::string& argument, TextFormat format, const ReportLayout& layout,
                             const RunConfig& config) {
  if (format == TextFormat::kTensorBoard) {
    return absl::InvalidArgumentError("--format: only a study can be written as event files: openset report SPEC");
  }
  absl::Status problems;
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRecords));
  std::vector<std::string> notes;
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, RecordsOf(store, argument, &problems, &notes));
  const ExperimentSpec spec = SpecInBundle(store, records);
  if (IsBundle(argument)) {
    for (std::string& line : MissingTrialLines(store, records, config)) notes.push_back(std::move(line));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string text,
                           RecordsReportAs(format, argument, spec, std::move(records), layout, Width(config), notes));
  OPENSET_RETURN_IF_ERROR(WriteOut(text, config));
  return problems;
}

// --format and --tidy. Errors: kInvalidArgument.
absl::StatusOr<TextFormat> ParseReportFormat(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(
      const TextFormat format,
      ParseFormat(config, {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex, TextFormat::kCsv,
                           TextFormat::kJson, TextFormat::kHtml, TextFormat::kTensorBoard}));
  if (!config.tidy) return format;
  if (format == TextFormat::kCsv || format == TextFormat::kText) return TextFormat::kTidy;
  return absl::InvalidArgumentError(absl::StrCat("--tidy: needs --format=csv, not ", FormatName(format)));
}

// What `openset score` left out of its study, as after its table; "" for other studies.
std::string LeftOutOfScore(const Store& store, const std::string& name, const RunConfig& config) {
  if (name.find('/') != std::string::npos) return "";
  const absl::StatusOr<ScoreRequest> request = FindScoreRequest(store, name);
  if (!request.ok()) return "";
  const absl::StatusOr<SpecFolders> folders = FindSpecFolders(config);
  if (!folders.ok()) return "";
  const absl::StatusOr<ScoreExperiment> score = MakeScoreExperiment(*request, *folders);
  return score.ok() ? SkippedText(score->skipped) : "";
}

absl::Status RunReport(const std::vector<std::string>& arguments, RunConfig config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseReportFormat(config));
  if (format != TextFormat::kTensorBoard) OPENSET_RETURN_IF_ERROR(CheckReportName(format, config.out));
  OPENSET_ASSIGN_OR_RETURN(const ReportLayout layout, MakeLayout(config));
  if (layout.rows.empty() != layout.columns.empty()) {
    return absl::InvalidArgumentError("--rows and --columns: give both, such as --rows=method --columns=task,metric");
  }
  const std::string laid_out = LayoutFlag(layout);
  if (!laid_out.empty() && format != TextFormat::kText && format != TextFormat::kMarkdown &&
      format != TextFormat::kLatex) {
    return absl::InvalidArgumentError(absl::StrCat(laid_out, ": applies to text, markdown and latex tables; ",
                                                   FormatName(format), " always has the same layout"));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string spec, SpecOfStudyFolder(arguments[0], &config));
  // A bundle, or a folder with one and no spec; a folder's name without "/" may be a study's.
  const std::string bundle = IsBundle(spec) || absl::StrContains(spec, '/') ? BundleOf(spec) : "";
  if (!bundle.empty()) {
    OPENSET_RETURN_IF_ERROR(UseBundle(bundle, &config).status());
    return ReportOnRecords(bundle, format, layout, config);
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRead));
  if (!FileExists(store.folder())) {
    if (!IsQuery(arguments[0]))
      OPENSET_RETURN_IF_ERROR(LoadStudy(spec, config).status());  // what is wrong with it first
    return absl::NotFoundError(absl::StrCat("there is no store ", store.folder(), ", and so no result of ",
                                            arguments[0], ": name the store by --store=FOLDER"));
  }
  if (IsQuery(arguments[0])) return ReportOnRecords(arguments[0], format, layout, config);
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(spec, config));
  OPENSET_RETURN_IF_ERROR(CheckIsOfBundle(*study));
  if (format != TextFormat::kText) ShowDataHints(*study);  // text has these lines
  if (format == TextFormat::kTensorBoard) {
    if (config.out.empty()) return absl::InvalidArgumentError("--out: event files need a folder, as --out=events");
    return WriteTensorBoard(*study, UserPath(config.out));
  }
  const std::unique_ptr<StudyResults> results = study->LoadResults();
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReportAs(format, *study, *results, layout, Width(config)));
  OPENSET_RETURN_IF_ERROR(WriteOut(text, config));
  if (format == TextFormat::kText && config.out.empty()) std::cout << LeftOutOfScore(store, spec, config);
  if (format == TextFormat::kText) {  // for people
    for (const std::string& line : HintLines(*study, *results)) std::cerr << line << "\n";
  }
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  const std::vector<std::string> damaged = study->Damaged();
  if (damaged.empty()) {
    const auto is_missing = [](const TrialResult& result) { return result.record == nullptr; };
    if (study->contents().unresolved.empty() || !absl::c_all_of(results->results, is_missing)) return absl::OkStatus();
    return absl::AbortedError(
        "no result was found; give the folder of the images with --data, or report on the records "
        "themselves: openset report 'experiment=NAME'");
  }
  // The report uses the intact results, and the error lists the others.
  return absl::AbortedError(absl::StrCat(damaged.size(), damaged.size() == 1 ? " result is" : " results are",
                                         " corrupt and left out; 'openset run ", arguments[0], "' makes ",
                                         damaged.size() == 1 ? "it" : "them", " again if needed:\n",
                                         absl::StrJoin(damaged, "\n")));
}

}  // namespace

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.arguments = "SPEC | FOLDER | BUNDLE | QUERY";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Prints a study's tables from the records in the store.";
  command.description =
      "Text, Markdown and LaTeX show published numbers next to ours if the spec names some (report.published), and\n"
      "possible reasons for the difference. A star marks a method that differs from the baseline (report.baseline; by\n"
      "default the first method).\n"
      "\n"
      "Text, Markdown and LaTeX use the metrics' own units. csv and json have the numbers in full precision; json\n"
      "also has every single value with its split and seed, and each record's id, keys and learning curve. html is\n"
      "one page with tables, plots and provenance that works offline. tensorboard is a folder of event files with\n"
      "learning curves and metrics. Corrupt records are left out and listed, and the exit code is 1. With text,\n"
      "likely mistakes are printed after the tables, to standard error.\n"
      "\n"
      "FOLDER is a published study, like those in results/: FOLDER/NAME.textproto, and its records in\n"
      "FOLDER/NAME.zip.\n"
      "`compare` and `figure` take it too.\n"
      "\n"
      "Instead of a study: the records of a bundle (BUNDLE.zip), which needs no store, or those of the store that\n"
      "match a query (as in 'openset records ls'). Neither needs the study or its data, and there are no tests.\n"
      "Methods are in the order of the study if the bundle contains it, otherwise in alphabetical order; trials of\n"
      "that study without a record are counted.\n"
      "\n"
      "  openset report quickstart\n"
      "  openset report results/openness\n"
      "  openset report results.zip\n"
      "  openset report 'experiment=quickstart and split=0'\n"
      "  openset report quickstart --rows=method --columns=task,metric\n"
      "  openset report quickstart --format=latex --spread=sample --digits=1 --sort=auroc\n"
      "  openset report quickstart --format=html --out=quickstart.html\n"
      "  openset report quickstart --format=csv --tidy --out=quickstart.csv\n"
      "  openset report quickstart --format=tensorboard --out=events      # tensorboard --logdir=events\n";
  command.flags = {"deploy", "store", "format", "tidy",    "rows", "columns", "spread",
                   "digits", "sort",  "out",    "devices", "data", "library"};
  AddChangeFlags(&command);
  command.run = RunReport;
  return command;
}

}  // namespace openset
