#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/process/interrupt.h"
#include "core/status_macros.h"
#include "experiments/action/action.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/spec/trial.h"
#include "experiments/study/failures.h"
#include "experiments/study/guidelines.h"
#include "experiments/study/until.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/run/run_plan.h"
#include "tools/cli/store_budget.h"

namespace openset {
namespace {

// Rounds need one process that waits for each of them.
absl::Status CheckRunsRounds(const RunConfig& config) {
  if (config.deployment.engine() != DeploySpec::SLURM && !config.is_slurm_task()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "until: Slurm tasks can't run a study in rounds: run it with --engine=local, inside an allocation");
}

absl::Status RunRound(Study* study, const RunConfig& config) {
  if (study->until().has_value()) std::cout << RoundLine(*study->until()) << "\n";
  return RunPlan(study, config);
}

// The command that shows this run's failures.
std::string StatusCommandOf(const std::string& study, const RunConfig& config) {
  std::string command = absl::StrCat("openset status ", study);
  if (config.store.has_value()) absl::StrAppend(&command, " --store=", *config.store);
  if (!config.library.empty()) absl::StrAppend(&command, " --library=", config.library);
  for (const std::string& change : config.study.changes.Texts()) absl::StrAppend(&command, " '", change, "'");
  return command;
}

absl::Status RunStudy(const std::vector<std::string>& arguments, RunConfig config) {
  // Slurm's warning may come to a task while the study is still being read.
  std::optional<Interrupt> held;
  if (config.is_slurm_task()) held.emplace();
  if (config.detach && config.deployment.engine() != DeploySpec::SLURM && !config.is_slurm_task()) {
    return absl::InvalidArgumentError(
        "--detach: goes with --engine=slurm. On this machine, leave it out and use tmux, or 'nohup openset run ... &'");
  }
  OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<Study> study, LoadStudy(arguments[0], config, StoreUse::kMayMake));
  ShowDataHints(*study);
  if (study->until().has_value()) OPENSET_RETURN_IF_ERROR(CheckRunsRounds(config));
  std::vector<const Trial*> trials;
  for (const int trial : study->ReportedTrials()) trials.push_back(&study->plan().trials[trial]);
  for (const std::string& line : InputWarnings(trials, study->experiment().catalog)) std::cerr << line << "\n";
  for (const std::string& line : MethodLines(*study)) std::cerr << line << "\n";
  absl::Status outcome = RunRound(study.get(), config);
  // Records of one round decide the next one. Loading the study again reads them.
  while (outcome.ok() && study->until().has_value() && config.study.only.empty()) {
    config.study.redo.clear();  // has been done
    OPENSET_ASSIGN_OR_RETURN(study, LoadStudy(arguments[0], config, StoreUse::kMayMake));
    if (study->plan().CountNeeded(ActionKind::kEvaluate) == 0) break;
    outcome = RunRound(study.get(), config);
  }
  const absl::Status finished = FinishRun(
      *study, outcome,
      absl::StrCat("'", StatusCommandOf(arguments[0], config), "' shows why; ", WhatToDo(FailuresOf(*study))), config);
  return KeepStoreSizeAfter(finished, *study, config);
}

}  // namespace

Command RunCommand() {
  Command command;
  command.name = "run";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Runs the missing parts of a study, then prints its tables.";
  command.description =
      "SPEC is the name of a study that comes with openset, or the path of a .textproto file. openset doesn't\n"
      "repeat what is in the store. Ctrl-C stops it: trainings save their state, which takes ten seconds at most. A\n"
      "second Ctrl-C stops at once. The same command continues from there. Exit code: 0 if all trials have a\n"
      "record, 1 if some failed, 2 for bad input, 130 if it was stopped.\n"
      "\n"
      "  openset run quickstart\n"
      "  openset run my_study.textproto --store=/data/results --devices=cuda:0,1\n"
      "  openset run my_study.textproto --deploy=workstation.textproto\n"
      "  openset run my_study.textproto --set training.epochs=5 --seeds=0..4 --methods=softmax,openauc\n"
      "  openset run my_study.textproto --only=failed\n"
      "  openset run my_study.textproto --until='auroc: 1.0'     # more splits, until a point is found or excluded\n";
  command.flags = RunFlags();
  AddChangeFlags(&command);
  command.run = RunStudy;
  return command;
}

}  // namespace openset
