#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/chart/vector_file.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/wrapped_text.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/cost_map.h"
#include "eval/report/evaluate_samples.h"
#include "eval/report/evaluation_report.h"
#include "eval/report/run_comparison.h"
#include "eval/report/run_comparison_report.h"
#include "eval/report/run_table.h"
#include "eval/report/sample_comparison.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/report/report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/kinds.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/cli/report_files.h"
#include "tools/cli/score/one_run.h"
#include "tools/cli/score/score_experiment.h"
#include "tools/evaluation/requested.h"

namespace openset {
namespace {

// The map or the table of a comparison on the same samples.
absl::Status WriteComparison(const SampleComparison& comparison, TextFormat format, const RunConfig& config) {
  return WriteOut(config.cost_map ? FormatCostMap(comparison, format) : FormatSampleComparison(comparison, format),
                  config);
}

// Refuses --cost_map for results of several runs, and formats that it does not have.
absl::Status CheckCostMap(bool on_samples, TextFormat format, const RunConfig& config) {
  if (!config.cost_map) return absl::OkStatus();
  if (!on_samples) {
    return absl::InvalidArgumentError(
        "--cost_map: compares scores on the same samples: files of scores, or a study of one run");
  }
  if (format == TextFormat::kSentence) {
    return absl::InvalidArgumentError(
        "--cost_map: can't be written as sentences; use --format=text, markdown, latex, csv or json");
  }
  return absl::OkStatus();
}

// Refuses to compare a method with itself. `arguments`: lists of files.
absl::Status CheckDiffer(const std::vector<std::string>& arguments) {
  std::map<std::vector<std::string>, std::string> seen;  // arguments by their files
  for (const std::string& argument : arguments) {
    std::vector<std::string> files;
    for (const absl::string_view file : absl::StrSplit(argument, ',')) {
      std::error_code unknown;  // reading the file says why
      const std::string path = UserPath(std::string(file));
      const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, unknown);
      files.push_back(unknown ? path : canonical.string());
    }
    std::sort(files.begin(), files.end());
    const auto [same, is_new] = seen.emplace(std::move(files), argument);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        same->second == argument ? absl::StrCat(argument, ": is given twice; a method can't be compared with itself")
                                 : absl::StrCat(argument, ": is the same file as ", same->second,
                                                "; a method can't be compared with itself"));
  }
  return absl::OkStatus();
}

void PrintHints(const std::vector<std::string>& hints) {
  for (const std::string& hint : hints) std::cerr << "hint: " << hint << "\n";
}

// Moves the method with the name of --baseline to the front, so that a difference is its own less the other's.
absl::Status PutFirst(const std::string& baseline, const std::vector<std::string>& names, const RunConfig& config,
                      std::vector<ComparedSamples>* methods) {
  if (config.cost_map) {
    return absl::InvalidArgumentError("--baseline: --cost_map compares all methods in each cell: leave it out");
  }
  const auto found = absl::c_find(names, baseline);
  if (found == names.end()) {
    return absl::InvalidArgumentError(absl::StrCat("--baseline: ", UnknownName("method", baseline, names)));
  }
  const auto place = methods->begin() + (found - names.begin());
  std::rotate(methods->begin(), place, place + 1);
  return absl::OkStatus();
}

absl::Status CompareScores(const std::vector<std::string>& arguments, TextFormat format, const RunConfig& config) {
  if (!config.diagram.empty()) {
    return absl::InvalidArgumentError("--diagram: is for results over tasks, not for scores on the same samples");
  }
  OPENSET_RETURN_IF_ERROR(CheckDiffer(arguments));
  OPENSET_RETURN_IF_ERROR(CheckCostMap(/*on_samples=*/true, format, config));
  ComparisonRequest request;
  request.set_cost_map(config.cost_map);
  *request.mutable_samples() = MakeSampleOptions(config);
  *request.mutable_interval() = MakeIntervalOptions(config);
  request.set_metrics(config.metrics);
  request.set_group(config.group);
  const std::vector<std::string> names = MethodNames(arguments);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<SampleReader> fits, FitReaders(config, arguments.size()));
  std::vector<ComparedSamples> methods;
  for (size_t i = 0; i < arguments.size(); ++i) {
    methods.push_back({names[i], arguments[i], FileReader(absl::StrSplit(arguments[i], ',')), fits[i]});
  }
  const bool has_baseline = !config.baseline.empty();
  if (has_baseline) OPENSET_RETURN_IF_ERROR(PutFirst(config.baseline, names, config, &methods));
  OPENSET_ASSIGN_OR_RETURN(const SampleComparison comparison,
                           RequestedComparison(request, methods, has_baseline ? std::optional(0) : std::nullopt,
                                               [](const std::string& hint) { PrintHints({hint}); }));
  OPENSET_RETURN_IF_ERROR(WriteComparison(comparison, format, config));
  PrintHints(comparison.hints);
  return absl::OkStatus();
}

// Whether results are in a file, not in a study.
bool IsFileOfRuns(const std::string& argument) {
  return absl::EndsWith(argument, ".csv") || absl::EndsWith(argument, ".tsv") || absl::EndsWith(argument, ".json") ||
         absl::EndsWith(argument, ".npz") || absl::EndsWith(argument, ".npy");
}

bool HasPlaces(const std::string& argument) {
  return absl::StrContains(argument, "{seed}") || absl::StrContains(argument, "{split}");
}

// Measures the files of several runs of each method: "msp_{split}_{seed}.csv".
absl::StatusOr<RunTable> RunTableOfFiles(const std::vector<std::string>& patterns, const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckDiffer(patterns));
  if (!config.fit.empty()) {
    return absl::InvalidArgumentError(
        "--fit: does not go with {split} and {seed}; 'openset score' fits scores to the outputs of each network");
  }
  EvaluationRequest request;
  request.set_metrics(config.metrics.empty() ? "accuracy,auroc,openauc,aurc,fpr_at_95tpr" : config.metrics);
  OPENSET_ASSIGN_OR_RETURN(const std::vector<ConventionMetric> metrics, RequestedMetrics(request));
  RunTable table;
  table.tasks = {""};
  table.block[""] = "";
  table.groups = {"pool"};
  std::error_code error;
  for (const std::string& pattern : patterns) {
    std::string method = std::filesystem::path(pattern).stem().string();
    for (const char* before : {"_", "-", ".", ""}) {
      for (const char* place : {"{split}", "{seed}"}) {
        method = absl::StrReplaceAll(method, {{absl::StrCat(before, place), ""}});
      }
    }
    if (method.empty() || absl::c_linear_search(table.methods, method)) method = pattern;
    table.methods.push_back(method);
    OutputFiles found = FindNumberedFiles(std::filesystem::absolute(UserPath(pattern), error).string());
    if (found.splits.empty() && found.seeds.empty()) {
      return absl::NotFoundError(
          absl::StrCat(pattern, ": no file has such a name, with numbers for {split} and {seed}"));
    }
    if (found.splits.empty()) found.splits.insert(0);
    if (found.seeds.empty()) found.seeds.insert(0);
    for (const int split : found.splits) {
      for (const uint64_t seed : found.seeds) {
        const Run run{absl::StrCat(split), absl::StrCat(seed)};
        const std::string file = absl::StrReplaceAll(pattern, {{"{split}", run.split}, {"{seed}", run.seed}});
        if (!FileExists(UserPath(file))) continue;  // a run without a partner is counted
        OPENSET_ASSIGN_OR_RETURN(const ScoredSamples scored, ReadScoredSamples({file}, config, /*read_fit=*/nullptr));
        OPENSET_ASSIGN_OR_RETURN(const EvaluationInput input, scored.samples.Input());
        OPENSET_ASSIGN_OR_RETURN(const EvaluationReport report,
                                 EvaluateSamples(metrics, scored.samples, RankedInput(input), std::nullopt));
        for (const ReportedMetric& metric : report.metrics) {
          if (!metric.value.has_value()) continue;
          if (!absl::c_linear_search(table.metrics, metric.name)) table.metrics.push_back(metric.name);
          table.value[metric.name][method][""][run] = *metric.value;
        }
      }
    }
  }
  return table;
}

// A study with those of its results that have outputs in the store.
struct MeasuredStudy {
  std::unique_ptr<Study> study;
  std::unique_ptr<StudyResults> results;
  std::vector<TrialResult> measured;
};

absl::StatusOr<MeasuredStudy> LoadMeasured(const std::string& name, const RunConfig& config) {
  MeasuredStudy loaded;
  OPENSET_ASSIGN_OR_RETURN(loaded.study, LoadStudy(name, config));
  OPENSET_RETURN_IF_ERROR(CheckIsOfBundle(*loaded.study));
  ShowDataHints(*loaded.study);
  loaded.results = loaded.study->LoadResults();
  OPENSET_RETURN_IF_ERROR(loaded.results->unread.ReadFailure());
  for (const std::string& record : loaded.results->unread.damaged) std::cerr << "hint: left out: " << record << "\n";
  OPENSET_ASSIGN_OR_RETURN(loaded.measured, WithOutputs(*loaded.study, *loaded.results));
  return loaded;
}

// Tests the methods of studies of one and the same run on its samples, from the outputs in the store.
absl::Status CompareOnOneRun(const std::vector<MeasuredStudy>& studies, TextFormat format, const RunConfig& config) {
  if (!config.diagram.empty()) {
    return absl::InvalidArgumentError("--diagram: is for results over tasks, and the study has results of one run");
  }
  ComparisonRequest request;
  *request.mutable_interval() = MakeIntervalOptions(config);
  OPENSET_RETURN_IF_ERROR(CheckCostMap(/*on_samples=*/true, format, config));
  const bool is_map = config.cost_map;
  request.set_cost_map(is_map);
  const std::string asked_metrics = config.metrics;
  request.set_metrics(asked_metrics.empty() && !is_map ? "auroc,fpr_at_95tpr" : asked_metrics);
  request.set_group(config.group);
  std::vector<ComparedSamples> methods;
  std::vector<std::string> names;
  std::vector<TrialResult> results;
  for (const MeasuredStudy& of_study : studies) {
    for (const TrialResult& result : of_study.measured) {
      results.push_back(result);
      names.push_back(absl::StrCat(studies.size() > 1 ? of_study.study->name() + ": " : "", RowName(*result.trial)));
      methods.push_back({names.back(), absl::StrCat("record ", result.record->trial_id().substr(0, 12)),
                         [trial = result.trial, &store = of_study.study->store()](const SetRoles&, ScoreDirection) {
                           return ScoredSamplesOf(*trial, store);
                         },
                         /*read_fit=*/nullptr});
    }
  }
  std::optional<int> baseline;
  const std::string asked = config.baseline;
  if (!asked.empty()) {
    OPENSET_RETURN_IF_ERROR(PutFirst(asked, names, config, &methods));
    baseline = 0;
  } else if (!config.all_pairs && !is_map) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<MetricSpec> metrics, ParseMetrics("--metrics", request.metrics()));
    const std::string first = MetricName(metrics.at(0));
    const std::optional<int> best = BestOf(results, first);
    if (!best.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--metrics: no record has ", first, ", so the best method by it is unknown: name a --baseline"));
    }
    OPENSET_RETURN_IF_ERROR(PutFirst(names[*best], names, config, &methods));
    baseline = 0;
  }
  OPENSET_ASSIGN_OR_RETURN(
      SampleComparison comparison,
      RequestedComparison(request, methods, baseline, [](const std::string& hint) { PrintHints({hint}); }));
  const std::string samples = comparison.notes.back();
  comparison.notes = {
      absl::StrCat(studies.size() > 1 ? "" : studies[0].study->name() + ": ", "one run (", results[0].trial->task(),
                   ", split ", results[0].trial->split(), ", seed ", results[0].trial->seed(),
                   "), so that the tests are on its samples; they don't say how another training, or "
                   "other classes, would differ"),
      samples};
  if (baseline.has_value() && asked.empty()) {
    comparison.notes.push_back(absl::StrCat(
        methods[0].name, " is the best of ", methods.size(),
        " on these test samples, and was chosen on them: its value "
        "is too good by some amount. To choose on others, search on validation samples (docs/studies.md), or name a "
        "--baseline beforehand"));
  }
  OPENSET_RETURN_IF_ERROR(WriteComparison(comparison, format, config));
  PrintHints(comparison.hints);
  return absl::OkStatus();
}

// Compares the runs of a table.
absl::Status CompareTable(const std::string& path, const RunTable& table, TextFormat format, const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckCostMap(/*on_samples=*/false, format, config));
  RunComparisonRequest request;
  if (!HasPlaces(path)) request.set_metrics(config.metrics);  // files of runs were measured by these alone
  *request.mutable_interval() = MakeIntervalOptions(config);
  request.set_test_per_training(config.test_per_training);
  OPENSET_ASSIGN_OR_RETURN(const RunComparisonOptions options, RequestedRunComparison(request));
  const std::string asked = config.baseline;
  if (!asked.empty() && config.all_pairs) {
    return absl::InvalidArgumentError("--all_pairs: tests all pairs, and --baseline only those with one method");
  }
  const std::string baseline = !asked.empty() ? asked : config.all_pairs ? "" : table.baseline;
  absl::StatusOr<RunComparison> comparison = CompareRuns(table, options.metrics, options.test, baseline);
  if (!comparison.ok()) return Annotate(comparison.status(), path);
  comparison->notes = {path};
  if (table.groups.size() > 1) {
    comparison->group = config.group;
    comparison->notes.push_back(absl::StrCat("unknown samples: ", config.group));
  }
  if (const std::string diagram = config.diagram; !diagram.empty()) {
    if (comparison->methods.empty()) {
      return absl::InvalidArgumentError("--diagram: needs three or more methods over two or more tasks");
    }
    const ComparedMethods& all = comparison->methods.front();
    if (all.test.rejected) {
      const std::string title = absl::StrCat(all.metric, ", mean rank over ", all.tasks, " tasks");
      OPENSET_RETURN_IF_ERROR(
          WriteVectorFiles({{UserPath(diagram), CriticalDifferenceDiagram(title, all.methods, all.test)}}));
    } else {
      comparison->left_out.push_back(absl::StrCat(
          diagram, ": ", all.metric, ": Friedman's test doesn't reject, so there is no difference to draw"));
    }
  }
  OPENSET_RETURN_IF_ERROR(
      WriteOut(FormatRunComparison(*comparison, format, config.out.empty() ? TableWidth() : kTextWidth), config));
  // CSV and sentences have no place for these lines, and readers of JSON may not look at them.
  if (format == TextFormat::kCsv || format == TextFormat::kSentence || format == TextFormat::kJson) {
    for (const std::string& line : comparison->left_out) std::cerr << "hint: left out: " << line << "\n";
  }
  PrintHints(comparison->hints);
  return absl::OkStatus();
}

absl::Status CompareResults(const std::string& argument, TextFormat format, RunConfig config) {
  std::string path = argument;
  std::error_code error;
  if (absl::StrContains(path, '/') && std::filesystem::is_directory(UserPath(path), error)) {
    // A folder with a bundle and no spec is the bundle, as for `report`.
    OPENSET_ASSIGN_OR_RETURN(const std::string spec, SpecOfStudyFolder(argument, &config));
    if (const std::string bundle = BundleOf(spec); !bundle.empty()) path = bundle;
  }
  if (IsFileOfRuns(path)) {
    OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("files", config));
    OPENSET_ASSIGN_OR_RETURN(const RunTable table, ReadRunTable(UserPath(path), config.group));
    return CompareTable(path, table, format, config);
  }
  Report report;
  if (IsBundle(path)) {
    OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("a bundle", config));
    OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, RecordsOfBundle(path, config));
    const RecordResults results = ResultsOf(std::move(records));
    for (const std::string& note : results.notes) std::cerr << "hint: " << note << "\n";
    report = MakeReport(path, results.results);
  } else {
    std::vector<MeasuredStudy> studies(1);
    OPENSET_ASSIGN_OR_RETURN(studies[0], LoadMeasured(path, config));
    if (studies[0].study->until().has_value()) {
      std::cerr
          << "hint: this study adds runs until its comparisons are decided, but these tests assume a fixed number of "
             "runs, so they report false differences too often. Use the corrected comparisons of 'openset report'.\n";
    }
    if (AreOfOneRun(studies[0].measured)) return CompareOnOneRun(studies, format, config);
    report = studies[0].study->MakeReport(*studies[0].results);
  }
  OPENSET_ASSIGN_OR_RETURN(const RunTable table, TableOf(report, config.group), path);
  return CompareTable(path, table, format, config);
}

// Compares the methods of several studies of one run, such as those of `openset score` of two networks.
absl::Status CompareStudies(const std::vector<std::string>& names, TextFormat format, const RunConfig& config) {
  std::vector<MeasuredStudy> studies;
  std::set<std::tuple<std::string, int, uint64_t, int>> runs;
  for (const std::string& name : names) {
    OPENSET_ASSIGN_OR_RETURN(studies.emplace_back(), LoadMeasured(name, config));
    if (studies.back().measured.empty()) {
      return absl::NotFoundError(absl::StrCat(name, ": the store has no outputs of its records"));
    }
    for (const TrialResult& result : studies.back().measured) {
      // The task of outputs without a task has the study's name; their labels say whether the samples are the same.
      const std::string& task = result.trial->task();
      const bool is_own = absl::StrCat("score_", task) == studies.back().study->name();
      runs.emplace(is_own ? "" : task, result.trial->split(), result.trial->seed(),
                   result.record->counts().unknown_classes());
    }
  }
  if (runs.size() == 1) return CompareOnOneRun(studies, format, config);
  return absl::InvalidArgumentError(absl::StrCat(
      absl::StrJoin(names, ", "),
      ": several studies are compared on the samples of one run, and these are of several tasks, splits or seeds: "
      "choose one by --seeds, or compare the rows of one study or table (openset compare --help)"));
}

absl::Status RunCompare(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format,
                           ParseFormat(config, {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex,
                                                TextFormat::kCsv, TextFormat::kJson, TextFormat::kSentence}));
  if (arguments.size() == 1) return CompareResults(arguments[0], format, config);
  if (absl::c_any_of(arguments, HasPlaces)) {
    OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("files", config));
    if (!absl::c_all_of(arguments, HasPlaces)) {
      return absl::InvalidArgumentError("{split} and {seed}: use them in the file names of all methods, or of none");
    }
    OPENSET_ASSIGN_OR_RETURN(const RunTable table, RunTableOfFiles(arguments, config));
    return CompareTable(absl::StrJoin(arguments, ", "), table, format, config);
  }
  // A file of scores has an extension, a study's name has none.
  if (absl::c_all_of(arguments, [](const std::string& argument) {
        return absl::EndsWith(argument, ".textproto") || !absl::StrContains(argument, '.');
      })) {
    return CompareStudies(arguments, format, config);
  }
  if (const auto bundle = absl::c_find_if(arguments, IsBundle); bundle != arguments.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(*bundle, ": is a bundle: compare takes one, whose methods it compares. ", kCompareBundles));
  }
  OPENSET_RETURN_IF_ERROR(RefuseChangeFlags("files", config));
  if (config.all_pairs) {
    return absl::InvalidArgumentError(
        "--all_pairs: is for studies; scores on the same samples are compared in all pairs without --baseline");
  }
  return CompareScores(arguments, format, config);
}

}  // namespace

Command CompareCommand() {
  Command command;
  command.name = "compare";
  command.arguments = "A B... | RESULTS | SPEC... | BUNDLE";
  command.min_arguments = 1;
  command.max_arguments = 100;
  command.summary = "Tests whether methods differ: on the same samples, or over runs and tasks.";
  command.description =
      "Two or more files of scores, as for `openset eval`, for the same samples in the same order (join several\n"
      "files of one method by commas): paired bootstrap, and DeLong's test for auroc and openauc (alone with\n"
      "--ci_method=delong, which takes seconds for a million samples). All pairs, or those with --baseline=NAME.\n"
      "Default for --metrics: accuracy, auroc, openauc, aurc, fpr_at_95tpr. With {split} and {seed} in their names, "
      "the files of\n"
      "each method are runs, and are compared as those of RESULTS.\n"
      "\n"
      "One file RESULTS with values over splits, seeds and tasks: a .csv with the columns method, task, split,\n"
      "seed and one for each metric (by its own or a usual name, as shares, not percent; other columns are\n"
      "ignored), or a .json from `openset report --format=json`. Two methods are compared over\n"
      "splits, with seeds nested in them, by a t test and Wilcoxon's signed rank test. Three or more methods are\n"
      "compared over tasks by Friedman's test (exact, or by random orders) and, if that rejects, Nemenyi's.\n"
      "\n"
      "A study, by its name or .textproto: its records in the store. Every method is tested against the baseline of\n"
      "the study's report, with the same p-values as the report's stars; --all_pairs tests all pairs. A bundle\n"
      "(BUNDLE.zip) needs no store: its records are tested in all pairs, or against --baseline.\n"
      "\n"
      "If the study's records are of one run, its methods are tested on the run's samples, from the outputs in the\n"
      "store: the best by the first of --metrics (default: auroc, fpr_at_95tpr) against all others, or --baseline.\n"
      "Several such studies are compared on the same samples, too: their rows are called 'STUDY: METHOD'.\n"
      "\n"
      "Otherwise nothing is tested with fewer than 3 splits (or 3 seeds of one split), or if the difference is the\n"
      "same in all of them. If nothing at all can be compared, the exit code is 2.\n"
      "\n"
      "If a metric has several tests, their p-values are adjusted by Holm's method over the tests shown. The verdict\n"
      "may be that there is no detectable difference. The column 'detects', and a sentence, then say which "
      "differences\n"
      "could have been found, and how many more splits would be needed. --format=sentence: only a sentence for each\n"
      "comparison, as a paper has it.\n"
      "\n"
      "  openset compare softmax.npz energy.npz\n"
      "  openset compare softmax.npz energy.npz --metrics=auroc --replicates=10000 --format=json\n"
      "  openset compare a.npz b.npz --score=knn --fit=a_fit.npz,b_fit.npz\n"
      "  openset compare 'msp_{seed}.csv' 'ours_{seed}.csv' --baseline=msp --metrics=auroc --format=sentence\n"
      "  openset compare softmax.npz energy.npz --cost_map\n"
      "  openset compare results.csv --metrics=auroc,openauc --diagram=ranks.svg\n"
      "  openset compare results.csv --group=pool\n"
      "  openset compare quickstart --metrics=auroc --format=sentence\n"
      "  openset compare score_old score_new --methods=mcp --format=sentence\n"
      "  openset compare results.zip --baseline=mcp --metrics=auroc\n"
      "  openset compare lambda --set training.epochs=5 --baseline='openauc, lambda 0.1'\n";
  command.flags = {"format", "out",   "metrics", "diagram", "test_per_training", "group",   "baseline", "all_pairs",
                   "deploy", "store", "devices", "data",    "library",           "cost_map"};
  AddChangeFlags(&command);
  for (const std::vector<std::string>& more : {IntervalFlags(), SampleFlags()}) {
    command.flags.insert(command.flags.end(), more.begin(), more.end());
  }
  command.run = RunCompare;
  return command;
}

}  // namespace openset
