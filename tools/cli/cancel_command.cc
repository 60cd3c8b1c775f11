#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "core/status_macros.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/stop_run.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"

namespace openset {
namespace {

// Asks this user's runs of the study on this machine to stop, and lists those elsewhere. Cancels the jobs of pilots
// instead of asking them. Returns the number of runs.
int StopRuns(const Study& study, const std::vector<SubmittedArray>& arrays) {
  int runs = 0;
  for (const RunState& run : RunsOf(study.store())) {
    const bool is_pilot = absl::c_any_of(
        arrays, [&](const SubmittedArray& array) { return absl::StartsWith(run.slurm_job(), array.job + "_"); });
    if (run.experiment() != study.name() || is_pilot) continue;
    ++runs;
    const absl::Status asked = AskToStop(study.store(), run);
    std::cout << study.name() << ": " << RunName(run.id()) << (asked.ok() ? ": " : " runs it: ")
              << (asked.ok() ? "asked to stop; its trainings save their states" : asked.message()) << "\n";
  }
  return runs;
}

absl::Status CancelJobs(const Study& study, const std::vector<SubmittedArray>& arrays) {
  std::set<std::string> in_queue, ours, queued;
  const SlurmClient slurm;
  OPENSET_ASSIGN_OR_RETURN(const auto queue, slurm.Queue());
  for (const auto& [task, state] : queue) in_queue.insert(task.job);
  for (const SubmittedArray& array : arrays) {
    if (in_queue.count(array.job) == 0) continue;
    // In a shared store, another user may have recorded any job of this user: cancel only jobs with the array's name.
    OPENSET_ASSIGN_OR_RETURN(const std::string of_name, slurm.JobOfName(array.array.name()));
    if (array.job.compare(of_name) == 0) ours.insert(array.job);  // g++ 12 warns falsely of ==
  }
  int tasks = 0;
  for (const auto& [task, state] : queue) {
    if (ours.count(task.job) == 0) continue;
    queued.insert(task.job);
    ++tasks;
  }
  OPENSET_RETURN_IF_ERROR(slurm.Cancel({queued.begin(), queued.end()}));
  std::cout << study.name() << ": " << tasks << (tasks == 1 ? " pilot" : " pilots") << " of " << queued.size()
            << (queued.size() == 1 ? " job" : " jobs") << " cancelled\n";
  return absl::OkStatus();
}

absl::Status RunCancel(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  const std::vector<SubmittedArray> arrays = ArraysInStore(study->store(), study->name());
  // Before the jobs, because a launcher would submit new pilots instead of cancelled ones.
  const int runs = StopRuns(*study, arrays);
  if (!arrays.empty()) return CancelJobs(*study, arrays);
  if (runs == 0) std::cout << study->name() << ": nothing runs it, and it has no Slurm jobs\n";
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
      "states.\n"
      "\n"
      "  openset cancel my_study.textproto --store=/data/results\n";
  command.flags = {"deploy", "store", "devices", "data", "library"};
  command.run = RunCancel;
  return command;
}

}  // namespace openset
