#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/status_macros.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/stop_run.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"

namespace openset {
namespace {

// Asks this user's runs of the study on this machine to stop, and lists those elsewhere. Tasks of Slurm are not asked:
// their jobs, `jobs`, are cancelled. Returns the number of runs.
int StopRuns(const Study& study, const std::set<std::string>& jobs) {
  int runs = 0;
  for (const RunState& run : RunsOf(study.store())) {
    const bool is_task = jobs.count(run.slurm_job().substr(0, run.slurm_job().find('_'))) > 0;
    if (run.experiment() != study.name() || is_task) continue;
    ++runs;
    const absl::Status asked = AskToStop(study.store(), run);
    std::cout << study.name() << ": " << RunName(run.id()) << (asked.ok() ? ": " : " runs it: ")
              << (asked.ok() ? "asked to stop; its trainings save their states" : asked.message()) << "\n";
  }
  return runs;
}

absl::Status RunCancel(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckNamedStore(config));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0], config));
  std::set<std::string> names, jobs;
  for (const SlurmArray& array : ArraysInStore(study->store(), study->name())) names.insert(array.name());
  const SlurmClient slurm;
  int tasks = 0;
  absl::Status asked;
  if (!names.empty()) {
    const absl::StatusOr<std::vector<SlurmTask>> queue = slurm.Queue();
    asked = queue.status();
    for (const SlurmTask& task : queue.ok() ? *queue : std::vector<SlurmTask>()) {
      if (names.count(task.array) == 0) continue;
      jobs.insert(task.job);
      ++tasks;
    }
  }
  // Before the jobs, because the process that submitted them would submit new tasks in their place.
  const int runs = StopRuns(*study, jobs);
  OPENSET_RETURN_IF_ERROR(asked);
  if (!jobs.empty()) OPENSET_RETURN_IF_ERROR(slurm.Cancel({jobs.begin(), jobs.end()}));
  if (!names.empty()) {
    std::cout << study->name() << ": " << tasks << (tasks == 1 ? " task" : " tasks") << " of " << jobs.size()
              << (jobs.size() == 1 ? " Slurm job" : " Slurm jobs") << " cancelled\n";
  } else if (runs == 0) {
    std::cout << study->name() << ": nothing runs it, and it has no Slurm jobs\n";
  }
  return absl::OkStatus();
}

}  // namespace

Command CancelCommand() {
  Command command;
  command.name = "cancel";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Stops a study: its Slurm jobs, and your runs of it on this machine.";
  command.description =
      "Asks your 'openset run' of the study on this machine to stop, as Ctrl-C does, and lists runs on other\n"
      "machines and by other users. Finished results stay. 'openset run' continues trainings from their last saved\n"
      "states. Runs that change the study on the command line (--set) belong to it, and stop too.\n"
      "\n"
      "  openset cancel my_study.textproto --store=/data/results\n";
  command.flags = {"deploy", "store", "devices", "data", "library"};
  command.run = RunCancel;
  return command;
}

}  // namespace openset
