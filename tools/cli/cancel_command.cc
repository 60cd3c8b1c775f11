#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/status_macros.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"

namespace openset {
namespace {

absl::Status RunCancel(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  std::set<std::string> in_queue, ours, queued;
  const SlurmClient slurm;
  OPENSET_ASSIGN_OR_RETURN(const auto queue, slurm.Queue());
  for (const auto& [task, state] : queue) in_queue.insert(task.job);
  for (const SubmittedArray& array : ArraysInStore(study->store(), study->name())) {
    if (in_queue.count(array.job) == 0) continue;
    // The store may be shared, and name a job of this user that is none of the experiment's.
    OPENSET_ASSIGN_OR_RETURN(const std::string of_name, slurm.JobOfName(array.array.name()));
    if (of_name == array.job) ours.insert(array.job);
  }
  int tasks = 0;
  for (const auto& [task, state] : queue) {
    if (ours.count(task.job) == 0) continue;
    queued.insert(task.job);
    ++tasks;
  }
  OPENSET_RETURN_IF_ERROR(slurm.Cancel({queued.begin(), queued.end()}));
  std::cout << study->name() << ": " << tasks << (tasks == 1 ? " pilot" : " pilots") << " of " << queued.size()
            << (queued.size() == 1 ? " job" : " jobs") << " cancelled\n";
  return absl::OkStatus();
}

}  // namespace

Command CancelCommand() {
  Command command;
  command.name = "cancel";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Cancels a study's Slurm jobs.";
  command.description =
      "Finished results stay. 'openset run' continues running trainings from their last saved state.\n"
      "\n"
      "  openset cancel my_study.textproto --store=/data/results\n";
  command.flags = {"deploy", "store", "devices", "data", "library"};
  command.run = RunCancel;
  return command;
}

}  // namespace openset
