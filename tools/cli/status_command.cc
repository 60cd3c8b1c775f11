#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/one_line.h"
#include "core/status_macros.h"
#include "experiments/action/stage.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/study/failures.h"
#include "tools/cli/commands.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/flags.h"
#include "tools/cli/run/run_lines.h"

namespace openset {
namespace {

// The runs of the store that do something of the plan, or, without one, all; each with what it does now. Returns how
// many there are.
int ShowRuns(const Store& store, const std::string& experiment) {
  const double now = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  int shown = 0;
  for (const RunState& run : RunsOf(store)) {
    if (!experiment.empty() && run.experiment() != experiment) continue;
    ++shown;
    std::cout << "running";
    if (experiment.empty()) std::cout << " " << OneLine(run.experiment());
    std::cout << " by " << OneLine(RunName(run.id()))
              << (run.slurm_job().empty() ? "" : ", Slurm task " + OneLine(run.slurm_job())) << ", for "
              << ShortDuration(absl::Seconds(run.updated_at_seconds() - run.started_at_seconds()));
    const double silent = now - run.updated_at_seconds();
    if (silent > run.lease_seconds()) {
      std::cout << ", without a sign of life for " << ShortDuration(absl::Seconds(silent));
    }
    std::cout << ": " << TotalLine(run) << "\n";
    for (const RunningAction& action : run.running()) std::cout << "  " << OneLine(ActionLine(action)) << "\n";
  }
  return shown;
}

// How many of the experiment's tasks Slurm has in which state.
void ShowQueue(const Study& study) {
  const std::vector<SubmittedArray> arrays = ArraysInStore(study.store(), study.name());
  if (arrays.empty()) return;
  const auto queue = SlurmClient().Queue();
  if (!queue.ok()) {
    std::cout << "Slurm: " << queue.status().message() << "\n";
    return;
  }
  for (const SubmittedArray& submitted : arrays) {
    std::map<std::string, int> states;
    for (int t = 0; t < submitted.array.task_size(); ++t) {
      if (const auto task = queue->find({submitted.job, t}); task != queue->end()) ++states[task->second];
    }
    if (states.empty()) continue;
    std::cout << "Slurm job " << submitted.job << " (" << OneLine(submitted.array.description()) << "):";
    for (const auto& [state, tasks] : states) std::cout << " " << tasks << " " << absl::AsciiStrToLower(state);
    std::cout << " of " << submitted.array.task_size() << " tasks\n";
  }
}

// Of trainings that are not complete.
int64_t CountSavedStates(const Study& study) {
  return absl::c_count_if(study.plan().actions, [&study](const Action& action) {
    return StageOf(action).SavesState() && action.is_needed() && FileExists(study.store().PartialPath(action.key));
  });
}

absl::Status RunStatus(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const Store store, StoreFromFlags(StoreUse::kRead));
    OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
    if (ShowRuns(store, "") == 0) std::cout << "nothing runs on the store " << store.folder() << "\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  const Store& store = study->store();
  const Plan& plan = study->plan();
  const int missing = plan.CountNeeded(ActionKind::kEvaluate);
  std::cout << study->name() << ": " << plan.trials.size() - missing << " of "
            << TrialCount(static_cast<int>(plan.trials.size())) << " done, " << missing << " left\n";
  if (study->waiting() > 0) std::cout << SearchText(*study) << "\n";
  if (const int64_t saved = CountSavedStates(*study); saved > 0) {
    std::cout << saved
              << (saved == 1 ? " training has a saved state, from which it continues\n"
                             : " trainings have saved states, from which they continue\n");
  }
  if (const std::vector<std::string> damaged = study->Damaged(); !damaged.empty()) {
    std::cout << damaged.size() << (damaged.size() == 1 ? " result is" : " results are")
              << " damaged; `openset run` moves " << (damaged.size() == 1 ? "it" : "them")
              << " to quarantine/ and makes what is needed again:\n";
    for (const std::string& line : damaged) std::cout << "  " << line << "\n";
  }
  if (const std::vector<std::string> aside = store.Quarantined(); !aside.empty()) {
    std::cout << "in quarantine: " << aside.size() << "\n";
    for (const std::string& line : aside) std::cout << "  " << line << "\n";
  }
  ShowRuns(store, study->name());
  ShowQueue(*study);
  const std::vector<StudyFailure> failed = FailuresOf(*study);
  if (!failed.empty()) std::cout << "failed at the last attempt:\n";
  for (const StudyFailure& failure : failed) {
    std::cout << "  " << failure.what << "\n";
    if (failure.log_tail.empty()) continue;
    std::cout << "      " << absl::StrReplaceAll(failure.log_tail, {{"\n", "\n      "}}) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

Command StatusCommand() {
  Command command;
  command.name = "status";
  command.arguments = "[SPEC]";
  command.min_arguments = 0;
  command.max_arguments = 1;
  command.summary = "Shows what is done, running, failed (and why) and left.";
  command.description =
      "For each action that runs, it shows the epoch, the loss, the last metric, images a second and the time\n"
      "left. Without SPEC, it shows all runs on the store.\n"
      "\n"
      "  openset status quickstart\n";
  command.flags = {"deploy", "store", "devices", "data", "library"};
  AddChangeFlags(&command);
  command.run = RunStatus;
  return command;
}

}  // namespace openset
