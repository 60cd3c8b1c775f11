// The job arrays of a store: submitted, remembered, found again.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/engine/slurm/slurm_array.pb.h"
#include "experiments/engine/slurm/slurm_arrays.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/store/store.h"

namespace openset {

struct SubmittedArray {
  SlurmArray array;
  std::string job;  // "" of one whose submission failed, or was cut off
};

// Those of an experiment, in the order of their names. Whatever is no array that SubmitArray() may have written is left
// out, and a job that is no number is "".
std::vector<SubmittedArray> ArraysInStore(const Store& store, const std::string& experiment);

// Of the programs of the store (ProgramCopy.sha256) those that unfinished arrays run, of all experiments: arrays with
// an action that has no result yet, and that were submitted less than kGivenUp ago.
std::set<std::string> ProgramsInUse(const Store& store);
inline constexpr absl::Duration kGivenUp = absl::Hours(30 * 24);

// Of each action's key the last task that was submitted for it.
std::map<std::string, SlurmTaskId> TasksOf(const std::vector<SubmittedArray>& arrays);

// The actions of the task that this process is, by the environment that Slurm gives it; `file` is the array's. Errors:
// kInvalidArgument if there is no such task; those of ReadRecordFile().
absl::StatusOr<SlurmTask> ThisTask(const std::string& file);
// "JOB_INDEX" of this process; "" outside of Slurm.
std::string ThisTaskId();

// What a task has from Slurm's warning on for its trainings to save their states and for other actions to end; the rest
// of `warning_seconds` is for its own end.
absl::Duration TimeToEnd(const SlurmSpec& slurm);

struct SubmitOptions {
  SlurmSpec slurm;
  std::string experiment;
  // Of `openset run`: the program and its arguments, to which each task adds what it needs.
  std::vector<std::string> command;
  // The copy of the program that the command begins with; without one, tasks run what is there when they start.
  ProgramCopy program;
  // Between two attempts to reach Slurm, the first time.
  double first_wait_seconds = 1;
};

// sbatch's options for an array of so many tasks, after jobs with these numbers.
std::vector<std::string> SbatchOptions(const SubmitOptions& options, const PlannedArray& array, const std::string& name,
                                       const std::string& log_folder, const std::vector<std::string>& after);

// What each of its tasks runs: the prologue, then the command in the place of the shell, which the warning is sent to.
// Where the copy of the program is not what it was, it says what is wrong with it, and fails.
std::string TaskScript(const SubmitOptions& options, const PlannedArray& array, const std::string& array_file);

// Submits an array and remembers it. Where Slurm can't be reached, or its answer is lost, it is tried again; what was
// submitted all the same is found by its name. Errors: those of SlurmClient::Submit(), of CheckProgram() and of
// writing.
absl::StatusOr<SubmittedArray> SubmitArray(const Store& store, const SlurmClient& client, const SubmitOptions& options,
                                           const Plan& plan, const PlannedArray& array,
                                           const std::vector<std::string>& after);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
