#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "core/suggest.h"
#include "core/table.h"
#include "experiments/spec/describe.h"
#include "nlohmann/json.hpp"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"
#include "tools/cli/task/split_table.h"

ABSL_DECLARE_FLAG(std::string, format);

namespace openset {
namespace {

constexpr ActionKind kKinds[] = {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate, ActionKind::kChoose};

int64_t WorkNeeded(const Plan& plan, ActionKind kind) {
  int64_t work = 0;
  for (const PlanNode& node : plan.nodes) work += node.kind == kind && node.needed ? node.work : 0;
  return work;
}

Table Actions(const Plan& plan) {
  Table table{{"action", "all", "in the store", "to run", "image passes"}, {}, 1};
  for (ActionKind kind : kKinds) {
    if (kind == ActionKind::kChoose && plan.Count(kind) == 0) continue;
    int done = 0;
    for (const PlanNode& node : plan.nodes) done += node.kind == kind && node.done;
    table.rows.push_back({KindName(kind), absl::StrCat(plan.Count(kind)), absl::StrCat(done),
                          absl::StrCat(plan.CountNeeded(kind)), absl::StrCat(WorkNeeded(plan, kind))});
  }
  return table;
}

Table Trials(const Plan& plan) {
  Table table{{"trial", "record", "what"}, {}, 3};
  for (const PlanNode& node : plan.nodes) {
    if (node.kind != ActionKind::kEvaluate) continue;
    for (int t : node.trials) {
      table.rows.push_back({node.key.substr(0, 12), node.done ? "yes" : "no", Describe(plan.trials[t])});
    }
  }
  return table;
}

std::string Json(const Plan& plan) {
  nlohmann::ordered_json json;
  json["trials"] = nlohmann::ordered_json::array();
  for (size_t t = 0; t < plan.trials.size(); ++t) {
    json["trials"].push_back({{"id", plan.trial_id(t)}, {"what", Describe(plan.trials[t])}});
  }
  json["actions"] = nlohmann::ordered_json::array();
  for (const PlanNode& node : plan.nodes) {
    nlohmann::ordered_json action;
    action["kind"] = KindName(node.kind);
    action["key"] = node.key;
    action["inputs"] = nlohmann::ordered_json::array();
    for (int input : node.inputs) action["inputs"].push_back(plan.nodes[input].key);
    action["trials"] = nlohmann::ordered_json::array();
    for (int t : node.trials) action["trials"].push_back(plan.trial_id(t));
    action["done"] = node.done;
    action["needed"] = node.needed;
    action["image_passes"] = node.work;
    json["actions"].push_back(action);
  }
  return json.dump(2) + "\n";
}

// Each task's splits as the trials have them, and warnings of those that repeat another one. Candidates of searches are
// on validation data and are left out.
absl::StatusOr<Table> Splits(const Study& study, std::vector<std::string>* warnings) {
  std::vector<ResolvedSplit> splits;
  std::map<std::string, std::vector<int>> used;
  std::set<const TrialData*> seen;
  for (const int t : study.ReportedTrials()) {
    const Trial& trial = study.plan().trials[t];
    if (!seen.insert(trial.shared_data().get()).second) continue;
    splits.push_back({trial.task(), trial.split(), &trial.data()});
    used[trial.task()].push_back(trial.split());
  }
  for (const TaskSpec& task : study.experiment().tasks) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                             RepeatWarnings(task, used[task.name()], study.experiment().catalog));
    warnings->insert(warnings->end(), lines.begin(), lines.end());
  }
  return SplitTable(splits, study.experiment().catalog);
}

absl::Status ShowPlan(const std::vector<std::string>& arguments) {
  const std::string format = absl::GetFlag(FLAGS_format);
  if (format != "text" && format != "markdown" && format != "csv" && format != "json") {
    return absl::InvalidArgumentError(UnknownName("format", format, {"text", "markdown", "csv", "json"}));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  const Plan& plan = study->plan();
  std::vector<std::string> warnings;
  OPENSET_ASSIGN_OR_RETURN(const Table splits, Splits(*study, &warnings));
  for (const std::string& warning : warnings) std::cerr << warning << "\n";
  if (format == "json") {
    std::cout << Json(plan);
  } else if (format == "csv") {
    std::cout << ToCsv(Trials(plan));
  } else if (format == "markdown") {
    std::cout << ToMarkdown(Actions(plan)) << "\n" << ToMarkdown(splits) << "\n" << ToMarkdown(Trials(plan));
  } else {
    std::cout << study->name() << ": " << plan.trials.size() << " trials\n"
              << (study->waiting() > 0 ? SearchText(*study) + "\n\n" : "\n") << ToText(Actions(plan))
              << "\nA training pass counts as 3 image passes, an inference pass as 1.\n\n"
              << ToText(splits) << "\n"
              << ToText(Trials(plan));
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> lines, study->SourceLines());
    for (const std::string& line : lines) std::cout << "\n" << line << ".\n";
  }
  return absl::OkStatus();
}

}  // namespace

Command PlanCommand() {
  Command command;
  command.name = "plan";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Shows what `run` would do: trials, the actions they share, what is done.";
  command.description =
      "Nothing is run or written.\n"
      "\n"
      "  openset plan quickstart\n"
      "  openset plan my_study.textproto --format=json\n";
  command.flags = {"deploy", "store", "format", "devices", "data", "library", "redo"};
  command.run = ShowPlan;
  return command;
}

}  // namespace openset
