// Slurm: wrappers of its commands, and the job arrays that are recorded in the store.
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
#include "experiments/store/store.h"

namespace openset {

// Wrappers of Slurm's commands.

// A task of an array: the number of its job, and its index.
struct SlurmTaskId {
  std::string job;
  int index = 0;
  bool operator<(const SlurmTaskId& other) const { return job != other.job ? job < other.job : index < other.index; }
};

// Errors of all methods: kNotFound and kDeadlineExceeded of CaptureOutput(). If a command fails, its message, in one
// line: kUnavailable if the cluster did not answer, else kFailedPrecondition. kUnavailable for answers that cannot be
// parsed.
class SlurmClient {
 public:
  // sbatch: returns the number of the new job.
  absl::StatusOr<std::string> Submit(const std::vector<std::string>& options, const std::string& script) const;
  // squeue: returns the state ("PENDING", "RUNNING" ...) of each unfinished task of this user's jobs.
  absl::StatusOr<std::map<SlurmTaskId, std::string>> Queue() const;
  // squeue: returns the number of the queued job with this name; "" if there is none.
  absl::StatusOr<std::string> JobOfName(const std::string& name) const;
  // sacct: returns how the tasks of a job ended ("TIMEOUT", "NODE_FAIL" ...); nothing if the cluster keeps no accounts.
  // Precondition: `job` is a number.
  std::map<SlurmTaskId, std::string> Ended(const std::string& job) const;
  // scontrol: returns the limit that all indices of an array's tasks must be below.
  int MaxArraySize() const;
  absl::Status Cancel(const std::vector<std::string>& jobs) const;
  // Puts a running task, "JOB_INDEX", back into the queue.
  absl::Status Requeue(const std::string& task) const;
};

// Parses the output of `squeue --array --format="%F|%K|%T"`. Skips jobs that are not arrays.
absl::StatusOr<std::map<SlurmTaskId, std::string>> ParseQueue(const std::string& lines);

// Parses the output of `sacct --parsable2 --format=JobID,State`: "12_3|CANCELLED by 0". Skips steps ("12_3.batch").
std::map<SlurmTaskId, std::string> ParseAccounts(const std::string& lines);

// Submits job arrays, records them in the store and finds them again.

struct SubmittedArray {
  SlurmArray array;
  std::string job;  // "" if the submission failed or was interrupted
};

// Returns the arrays of a study in the order of their names, except those whose names are in `known`. Skips anything
// that SubmitArray() can't have written; a job that is not a number is returned as "".
std::vector<SubmittedArray> ArraysInStore(const Store& store, const std::string& experiment,
                                          const std::set<std::string>& known = {});

// Writes the information that the pilots of a run need, and returns its SHA-256. Errors: those of writing.
absl::StatusOr<std::string> WriteLaunch(const Store& store, const SlurmLaunch& launch);
// Errors: kNotFound; kDataLoss if the content is not what was written.
absl::StatusOr<SlurmLaunch> LoadLaunch(const Store& store, const std::string& sha256);

// Returns the programs of the store (ProgramCopy.sha256) that unfinished arrays of any study run: arrays that were
// submitted less than kGivenUp ago, by the clock of the store's disk, and whose launch lists a record that does not
// exist yet. Errors: those of IsReadFailure() (experiments/store/store.h).
absl::StatusOr<std::set<std::string>> ProgramsInUse(const Store& store);
inline constexpr absl::Duration kGivenUp = absl::Hours(30 * 24);

// Returns the array that this process is a task of, according to the environment that Slurm sets; `file` is the array's
// file. Errors: kInvalidArgument if there is no such task; kDataLoss if SubmitArray() can't have written the file;
// those of ReadRecordFile().
absl::StatusOr<SlurmArray> ThisArray(const std::string& file);
// Returns "JOB_INDEX" of this process; "" outside of Slurm.
std::string ThisTaskId();

// Returns how long, after Slurm's warning, a pilot's trainings have to save their states and its other actions to end;
// the rest of `warning_seconds` is for the pilot's own shutdown.
absl::Duration TimeToEnd(const SlurmSpec& slurm);

struct SubmitOptions {
  SlurmSpec slurm;
  std::string experiment;
  // The program and arguments of `openset run`; kPilotFlags more arguments are appended for each pilot.
  std::vector<std::string> command;
  // The copy of the program that `command` begins with. Without a copy, pilots run whatever is at the program's path
  // when they start.
  ProgramCopy program;
  // The SHA-256 of the SlurmLaunch.
  std::string launch;
  // The first wait between two attempts to reach Slurm.
  double first_wait_seconds = 1;
};

// The number of arguments that TaskScript() appends to the command.
inline constexpr int kPilotFlags = 6;

// Returns sbatch's options for an array of `pilots` tasks.
std::vector<std::string> SbatchOptions(const SubmitOptions& options, const SlurmSeat& seat, int pilots,
                                       const std::string& name, const std::string& log_folder);

// Returns the script of each task: it runs the prologue, then the command in place of the shell (exec), so that the
// command receives Slurm's warning. If the copy of the program has changed, the script prints what is wrong with it,
// and fails.
std::string TaskScript(const SubmitOptions& options, const SlurmSeat& seat, const std::string& array_file);

// "1 GPU, 4 CPUs", "2 CPUs, 500 MB".
std::string DescribeSeat(const SlurmSeat& seat);

// Submits an array and records it in the store. If Slurm can't be reached or its answer is lost, tries again; a
// submission that succeeded all the same is found by its name. Errors: those of SlurmClient::Submit(), of
// CheckProgram() and of writing.
absl::StatusOr<SubmittedArray> SubmitArray(const Store& store, const SlurmClient& client, const SubmitOptions& options,
                                           const SlurmSeat& seat, int pilots);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
