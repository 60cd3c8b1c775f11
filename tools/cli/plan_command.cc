#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "eval/statistics/paired_tests.h"
#include "eval/statistics/power.h"
#include "experiments/action/stage.h"
#include "experiments/plan/cost.h"
#include "experiments/plan/plan.h"
#include "experiments/report/report.h"
#include "experiments/spec/trial.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/records/metric_groups.h"
#include "experiments/study/check_inputs.h"
#include "experiments/study/guidelines.h"
#include "experiments/study/until.h"
#include "nlohmann/json.hpp"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/plan_power.h"
#include "tools/cli/run/allowed_commands.h"
#include "tools/cli/run/run_plan.h"
#include "tools/cli/run/study_cost.h"
#include "tools/cli/task/split_table.h"

namespace openset {
namespace {

constexpr double kTestLevel = 0.05;  // of the report's stars
constexpr size_t kMostTimed = 2000;  // trials of a study whose records are read for their cost

int64_t WorkNeeded(const Plan& plan, ActionKind kind) {
  int64_t work = 0;
  for (const Action& action : plan.actions) work += action.kind == kind && action.is_needed() ? action.work : 0;
  return work;
}

Table Actions(const Plan& plan) {
  Table table{{"action", "all", "in the store", "to run", "image passes"}, {}, 1};
  for (const ActionKind kind : kActionKinds) {
    if (kind == ActionKind::kChoose && plan.Count(kind) == 0) continue;
    int done = 0;
    for (const Action& action : plan.actions) done += action.kind == kind && action.is_done();
    table.rows.push_back({KindName(kind), absl::StrCat(plan.Count(kind)), absl::StrCat(done),
                          absl::StrCat(plan.CountNeeded(kind)), absl::StrCat(WorkNeeded(plan, kind))});
  }
  return table;
}

Table Trials(const Plan& plan) {
  Table table{{"trial", "record", "what"}, {}, 3};
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kEvaluate) continue;
    for (int t : action.trials) {
      table.rows.push_back({action.key.substr(0, 12), action.is_done() ? "yes" : "no", Describe(plan.trials[t])});
    }
  }
  return table;
}

std::vector<const Trial*> Reported(const Study& study) {
  std::vector<const Trial*> trials;
  for (const int t : study.ReportedTrials()) trials.push_back(&study.plan().trials[t]);
  return trials;
}

// The costs of the stages in the study's records, each once.
absl::StatusOr<nlohmann::ordered_json> TimeTaken(const Study& study) {
  const std::unique_ptr<StudyResults> results = study.LoadResults();
  OPENSET_RETURN_IF_ERROR(results->unread.ReadFailure());
  std::set<std::string> stages;
  double cpu_seconds = 0, wall_seconds = 0;
  int missing = 0;
  for (const TrialResult& result : results->results) {
    if (result.record == nullptr) {
      ++missing;
      continue;
    }
    for (const StageProvenance& stage : result.record->provenance().stage()) {
      if (!stages.insert(stage.key()).second) continue;
      cpu_seconds += stage.cpu_seconds();
      wall_seconds += stage.wall_seconds();
    }
  }
  nlohmann::ordered_json took;
  took["stages"] = stages.size();
  took["missing"] = missing;
  took["cpu_hours"] = cpu_seconds / 3600;
  took["wall_hours"] = wall_seconds / 3600;
  return took;
}

// Whether to measure networks of unknown cost: if requested; by default, if the output is a terminal.
bool MayProbe(const RunConfig& config) { return config.probe.value_or(config.format == "text"); }

nlohmann::ordered_json ActionJson(const Plan& plan, const Action& action) {
  nlohmann::ordered_json entry;
  entry["kind"] = KindName(action.kind);
  entry["key"] = action.key;
  entry["inputs"] = nlohmann::ordered_json::array();
  for (const ActionId input : action.inputs) entry["inputs"].push_back(plan[input].key);
  entry["trials"] = nlohmann::ordered_json::array();
  for (int t : action.trials) entry["trials"].push_back(plan.trial_id(t));
  entry["done"] = action.is_done();
  entry["needed"] = action.is_needed();
  entry["image_passes"] = action.work;
  return entry;
}

// What the tests of the report's stars could find on a level (task, known and unknown classes).
struct PlannedTest {
  std::string task;  // with the numbers of classes if it has several levels
  int replicates = 0;
  bool of_seeds = false;  // of one split
  int tests = 0;          // over which Holm's method corrects
  // The smallest difference that is found in 4 of 5 studies, in standard deviations of a replicate's difference: of one
  // test alone, and after Holm. Absent without a test.
  std::optional<std::pair<double, double>> detects;
};

// Empty if there is one row only.
std::vector<PlannedTest> PlannedTests(const Study& study) {
  struct OfLevel {
    std::set<std::string> rows;
    std::set<int> draws;
    std::set<std::pair<int, uint64_t>> runs;
  };
  Draws draws;
  std::map<Level, OfLevel> levels;
  std::map<std::string, int> levels_of_task;
  int tests = 0;
  for (const Trial* trial : Reported(study)) {
    const auto& axis = trial->axis();
    const Level level = {trial->task(), trial->data().test_known().class_id_size(), CountUnknownClasses(trial->data())};
    const auto [at, is_new] = levels.try_emplace(level);
    levels_of_task[trial->task()] += is_new;
    OfLevel& of_level = at->second;
    const bool is_first = of_level.rows.empty();
    tests += of_level.rows.insert(RowName(trial->method().name(), {axis.begin(), axis.end()})).second && !is_first;
    of_level.draws.insert(draws.Of(level, trial->split(), trial->data()));
    of_level.runs.emplace(trial->split(), trial->seed());
  }
  std::vector<PlannedTest> planned;
  for (const auto& [level, of_level] : levels) {
    if (of_level.rows.size() < 2) continue;
    PlannedTest test;
    const auto& [task, known, unknown] = level;
    test.task = levels_of_task[task] == 1 ? task : absl::StrCat(task, " (", known, " known, ", unknown, " unknown)");
    test.of_seeds = of_level.draws.size() == 1;
    test.replicates = static_cast<int>(test.of_seeds ? of_level.runs.size() : of_level.draws.size());
    test.tests = tests;
    if (test.replicates >= kFewestReplicates) {
      const double root = std::sqrt(test.replicates);
      test.detects = {DetectableRatio(test.replicates, kTestLevel) / root,
                      DetectableRatio(test.replicates, kTestLevel / tests) / root};
    }
    planned.push_back(std::move(test));
  }
  return planned;
}

// What a study that adds runs until its comparisons are decided has done, and what it can find at most.
std::vector<std::string> UntilTexts(const UntilState& state) {
  const UntilReport& report = state.report;
  const double level = *std::min_element(state.last_levels.begin(), state.last_levels.end());
  const double detects = DetectableRatio(state.most_splits, level) / std::sqrt(state.most_splits);
  return {RoundLine(state),
          absl::StrCat("at first ", state.first_splits, " splits, at most ", state.most_splits, " splits and ",
                       state.most_seeds, state.most_seeds == 1 ? " seed" : " seeds", ": ", report.most_trials,
                       " trials, of which the records so far call for ", report.trials),
          absl::StrCat("with the most splits, a difference of ", absl::StrFormat("%.2f", detects),
                       " standard deviations of a split's difference is found in 4 of 5 studies, so that ", report.size,
                       " is found if the differences vary by up to ", absl::StrFormat("%.2f", report.size / detects),
                       " between splits; 'openset plan --power' computes the runs needed")};
}

std::string TestText(const PlannedTest& test) {
  const std::string replicates = test.of_seeds ? "seeds" : "splits";
  const std::string here = absl::StrCat(test.task, ": ", test.replicates, " ",
                                        test.replicates == 1 ? replicates.substr(0, replicates.size() - 1) : replicates,
                                        test.of_seeds ? " of one split" : "");
  if (!test.detects.has_value()) {
    return absl::StrCat(here, ": methods will not be tested; a test needs at least ", kFewestReplicates,
                        " splits, or seeds of one split; use 5");
  }
  const auto [alone, holm] = *test.detects;
  const auto range = [&](const std::string& low, const std::string& high) {
    return low == high ? low : absl::StrCat(low, " to ", high);
  };
  const std::string found = range(absl::StrFormat("%.1f", alone), absl::StrFormat("%.1f", holm));
  return absl::StrCat(here, ", ", test.tests, test.tests == 1 ? " test" : " tests",
                      " a metric: if the difference of two methods varies by 1 point between ", replicates,
                      ", differences below about ", found, " points can't be detected, and 1 point takes ",
                      range(absl::StrCat(ReplicatesToDetect(1, kTestLevel)),
                            absl::StrCat(ReplicatesToDetect(1, kTestLevel / test.tests))),
                      " ", replicates, test.tests == 1 ? "" : " (a single test, to the first of Holm's)");
}

// Writes nothing if it fails.
absl::Status WriteJson(const Study& study, const RunConfig& config) {
  const Plan& plan = study.plan();
  nlohmann::ordered_json json;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedCost> costs, CostsOf(study, MayProbe(config), config));
  for (const NamedCost& cost : costs) {
    json["cost"].push_back({{"what", cost.what},
                            {"where", cost.where},
                            {"image_passes", cost.cost.passes},
                            {"multiply_adds", cost.cost.multiply_adds},
                            {"hours", cost.hours},
                            {"measured", cost.cost.measured},
                            {"probed", cost.cost.probed},
                            {"scaled", cost.cost.scaled},
                            {"assumed", cost.cost.assumed},
                            {"unknown_passes", cost.cost.unknown_passes}});
  }
  if (plan.trials.size() <= kMostTimed) {
    OPENSET_ASSIGN_OR_RETURN(json["took"], TimeTaken(study));
  }
  json["missing_data"] = nlohmann::ordered_json::array();
  for (const MissingData& data : FindMissingData(plan, study.experiment().catalog, config.data_folders)) {
    json["missing_data"].push_back({{"data_set", data.data_set}, {"why", data.why}, {"fix", data.fix}});
  }
  if (study.until().has_value()) {
    const UntilState& state = *study.until();
    json["until"] = {{"trials", state.report.trials},
                     {"most_trials", state.report.most_trials},
                     {"first_splits", state.first_splits},
                     {"most_splits", state.most_splits},
                     {"most_seeds", state.most_seeds}};
  }
  for (const PlannedTest& test : PlannedTests(study)) {
    nlohmann::ordered_json entry = {
        {"task", test.task}, {"replicates", test.replicates}, {"of_seeds", test.of_seeds}, {"tests", test.tests}};
    if (test.detects.has_value()) {
      entry["detects_deviations"] = test.detects->first;
      entry["detects_deviations_holm"] = test.detects->second;
    }
    json["tests"].push_back(std::move(entry));
  }
  for (const Guideline& line : CheckGuidelines(Reported(study), study.experiment().catalog)) {
    json["guidelines"].push_back({{"kept", line.kept}, {"text", line.text}});
  }
  JsonStream stream(&std::cout);
  stream.Array("trials", static_cast<int64_t>(plan.trials.size()), [&](int64_t t) {
    return nlohmann::ordered_json{{"id", plan.trial_id(t)}, {"what", Describe(plan.trials[t])}};
  });
  stream.Array("actions", static_cast<int64_t>(plan.actions.size()),
               [&](int64_t a) { return ActionJson(plan, plan.actions[a]); });
  for (const auto& [name, value] : json.items()) stream.Member(name, value);
  stream.Finish();
  return absl::OkStatus();
}

// Prints the lines below the tables: cost, missing data, guidelines.
absl::StatusOr<std::string> Advice(const Study& study, const RunConfig& config) {
  std::string text = "\nCost\n";
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedCost> costs, CostsOf(study, MayProbe(config), config));
  for (const NamedCost& cost : costs) {
    if (IsAssumed(cost.cost)) {
      absl::StrAppend(&text, "  ", cost.what, ": unknown on ", cost.where, ": nothing was measured there\n");
      continue;
    }
    absl::StrAppend(&text, "  ", cost.what, ": about ", HoursText(cost.hours), " on ", cost.where, " (",
                    BasisText(cost.cost, cost.on_gpu), ")\n");
  }
  const std::vector<MissingData> missing =
      FindMissingData(study.plan(), study.experiment().catalog, config.data_folders);
  if (!missing.empty()) absl::StrAppend(&text, "\nData that is missing\n");
  for (const MissingData& data : missing)
    absl::StrAppend(&text, "  ", data.data_set, ": ", data.fix, " (", data.why, ")\n");
  if (study.until().has_value()) {
    text += "\nUntil\n";
    for (const std::string& line : UntilTexts(*study.until()))
      absl::StrAppend(&text, Wrapped(absl::StrCat("  ", line)), "\n");
  }
  const std::vector<PlannedTest> tests = study.until().has_value() ? std::vector<PlannedTest>() : PlannedTests(study);
  if (!tests.empty()) text += "\nTests against the baseline\n";
  for (const PlannedTest& test : tests) absl::StrAppend(&text, Wrapped(absl::StrCat("  ", TestText(test))), "\n");
  absl::StrAppend(&text, "\nGuidelines of Komorniczak and Ksieniewicz 2024\n");
  for (const Guideline& line : CheckGuidelines(Reported(study), study.experiment().catalog)) {
    absl::StrAppend(&text, line.kept ? "  followed      " : "  not followed  ", line.text, "\n");
  }
  return text;
}

// The trials' splits of each task. Candidates of searches are omitted, because they use validation data.
absl::StatusOr<Table> Splits(const Study& study, std::vector<std::string>* warnings, const RunConfig& config) {
  std::vector<ResolvedSplit> splits;
  std::set<const TrialData*> seen;
  for (const int t : study.ReportedTrials()) {
    const Trial& trial = study.plan().trials[t];
    if (!seen.insert(trial.shared_data().get()).second) continue;
    splits.push_back({trial.task(), trial.split(), &trial.data()});
  }
  for (std::string& line : InputWarnings(Reported(study), study.experiment().catalog)) {
    warnings->push_back(std::move(line));
  }
  for (std::string& line : MethodLines(study)) warnings->push_back(std::move(line));
  return SplitTable(splits, study.experiment().catalog, config.data_folders);
}

absl::Status ShowPlan(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseFormat(config, {TextFormat::kText, TextFormat::kMarkdown,
                                                                         TextFormat::kCsv, TextFormat::kJson}));
  if (!config.power.empty()) return ShowPower(arguments[0], format, config);
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0], config));
  ShowDataHints(*study);
  const Plan& plan = study->plan();
  std::vector<std::string> warnings;
  OPENSET_ASSIGN_OR_RETURN(const Table splits, Splits(*study, &warnings, config));
  if (const absl::Status precisions = CheckPrecisions(plan, config); !precisions.ok()) {
    warnings.push_back(absl::StrCat("warning: ", precisions.message()));
  }
  for (std::string& line : SharedClusters(plan, study->experiment().catalog, config.data_folders)) {
    warnings.push_back(absl::StrCat("hint: ", line));
  }
  for (const std::string& warning : warnings) std::cerr << warning << "\n";
  if (format == TextFormat::kJson) {
    OPENSET_RETURN_IF_ERROR(WriteJson(*study, config));
  } else if (format == TextFormat::kCsv) {
    std::cout << ToCsv(Trials(plan));
  } else if (format == TextFormat::kMarkdown) {
    std::cout << ToMarkdown(Actions(plan)) << "\n" << ToMarkdown(splits) << "\n" << ToMarkdown(Trials(plan));
  } else {
    OPENSET_ASSIGN_OR_RETURN(const std::string advice, Advice(*study, config));
    std::cout << study->name() << ": " << TrialCount(static_cast<int>(plan.trials.size())) << "\n"
              << (study->waiting() > 0 ? SearchText(*study) + "\n\n" : "\n") << ToText(Actions(plan))
              << "\nA training pass counts as 3 image passes, an inference pass as 1.\n\n"
              << ToText(splits) << "\n"
              << Wrapped(kSplitColumns) << "\n\n"
              << ToText(Trials(plan));
    for (const std::string& line : SameMethodLines(plan)) std::cout << "\n" << line << ".\n";
    for (const std::string& line : CommandsOf(*study)) {
      std::cout << "\ncommand (needs --allow_commands): " << line << "\n";
    }
    std::cout << advice;
    const std::vector<std::string> lines = study->SourceLines();
    for (const std::string& line : lines) std::cout << "\n" << line << ".\n";
    for (const std::string& line : study->Damaged()) std::cout << "\ncorrupt, to be made again: " << line << ".\n";
  }
  if (const std::vector<std::string> lines = study->Unreadable(); !lines.empty()) {
    return absl::UnavailableError(UnreadableText(lines));
  }
  return absl::OkStatus();
}

}  // namespace

Command PlanCommand() {
  Command command;
  command.name = "plan";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Shows what `run` would do: the trials, the actions they share, and what is done.";
  command.description =
      "Doesn't run or write anything. It also estimates how long the study takes, from earlier trainings in the\n"
      "store, otherwise from a probe of some seconds, otherwise from other networks there. It lists missing data and\n"
      "how to get it, says which differences between methods the study's tests could find, and which evaluation\n"
      "guidelines it follows.\n"
      "\n"
      "--power: from the records of a small study (or of a folder or a BUNDLE.zip), how much of the variance of the\n"
      "differences is between splits, between seeds and noise of the test images, and the cheapest numbers of splits\n"
      "and seeds that find a difference.\n"
      "\n"
      "  openset plan quickstart\n"
      "  openset plan my_study.textproto --format=json\n"
      "  openset plan results/openauc_term --power='auroc: 1.0'\n";
  command.flags = {"deploy", "store", "format", "devices", "jobs",  "data",    "library",
                   "redo",   "only",  "probe",  "power",   "group", "baseline"};
  AddChangeFlags(&command);
  command.run = ShowPlan;
  return command;
}

}  // namespace openset
