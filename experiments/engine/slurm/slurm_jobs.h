// Runs a plan on a Slurm cluster: submits job arrays whose tasks are processes of `openset run`.
//
// A task has a seat on a node: some CPUs, and a GPU if the study needs one. It takes any open action of the plan, with
// the claims of all processes on the store (execute_plan.h). Near its time limit its trainings save their states, and
// it is queued again. If it has had nothing to claim for a while, it ends; so whichever task holds the last action also
// makes the choices that follow and goes on with their trials. The work therefore needs no other process. The process
// that submits, if it stays, starts no action: it shows what the tasks do, makes the choices as they do, and submits
// tasks for actions that become open.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/engine/slurm/slurm_array.pb.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"

namespace openset {

// ---- Wrappers of Slurm's commands.

// An unfinished task of an array.
struct SlurmTask {
  std::string array;  // the name of its job
  std::string job;    // a number; a cluster may use it again
  std::string state;  // "PENDING", "RUNNING" ...
};

// Errors of all methods: kNotFound if the command is not installed, kDeadlineExceeded if it doesn't end. If it fails,
// its message, in one line: kUnavailable if the cluster did not answer, else kFailedPrecondition. kUnavailable for
// answers that cannot be parsed.
class SlurmClient {
 public:
  // sbatch: returns the number of the new job.
  absl::StatusOr<std::string> Submit(const std::vector<std::string>& options, const std::string& script) const;
  // squeue: returns the tasks of this user's arrays.
  absl::StatusOr<std::vector<SlurmTask>> Queue() const;
  // sacct: returns the job of this name with how its first task ended, "12 (NODE_FAIL)"; "" if the cluster keeps no
  // accounts.
  std::string Ended(const std::string& array) const;
  // scontrol: returns the limit that all indices of an array's tasks must be below.
  int MaxArraySize() const;
  // scancel. Precondition: `jobs` are numbers.
  absl::Status Cancel(const std::vector<std::string>& jobs) const;
  // Puts a running task, "JOB_INDEX", back into the queue.
  absl::Status Requeue(const std::string& task) const;
};

// Parses the output of `squeue --array --format="%j|%F|%K|%T"`. Skips jobs that are not arrays, and repeated lines.
absl::StatusOr<std::vector<SlurmTask>> ParseQueue(const std::string& lines);

// Parses the output of `sacct --parsable2 --format=JobID,State`, "12_3|CANCELLED by 0", as SlurmClient::Ended() returns
// it. Skips steps ("12_3.batch").
std::string ParseAccounts(const std::string& lines);

// ---- Arrays in the store.

// Returns the arrays of a study in the order of their names, in which they were submitted. Skips anything that SlurmRun
// can't have written.
std::vector<SlurmArray> ArraysInStore(const Store& store, const std::string& experiment);

// The last line of the output of each task of an array, "FILE: LINE", each line once, with the first file that has it;
// of tasks that have written nothing, none.
std::vector<std::string> LastLinesOf(const Store& store, const SlurmArray& array);

// Returns the programs of the store (ProgramCopy.sha256) that unfinished arrays of any study run: arrays that were
// submitted less than kGivenUp ago, by the clock of the store's disk, with a record that does not exist yet. Errors: a
// read failure (IsReadFailure() in experiments/store/store.h).
absl::StatusOr<std::set<std::string>> ProgramsInUse(const Store& store);
inline constexpr absl::Duration kGivenUp = absl::Hours(30 * 24);

// Returns the array that this process is a task of, according to the environment that Slurm sets; `file` is the array's
// file. Errors: a read error (core/files/system_calls.h); kInvalidArgument also if there is no such task; kDataLoss
// also if SlurmRun can't have written the file; kUnimplemented if a newer openset wrote it.
absl::StatusOr<SlurmArray> ThisArray(const std::string& file);
// Returns "JOB_INDEX" of this process; "" outside of Slurm.
std::string ThisTaskId();

// Returns how long, after Slurm's warning, a task's trainings have to save their states and its other actions to end;
// the rest of `warning_seconds` is for the task's own shutdown.
absl::Duration TimeToEnd(const SlurmSpec& slurm);

// A hint if less than half of `time` is for work: Slurm may warn up to a minute early, and a requeued task waits about
// two minutes. "" otherwise, without a limit, and for a text that sbatch reads as no time.
std::string TimeHint(const SlurmSpec& slurm);

// ---- Submitting.

struct SlurmOptions {
  // The fields that apply here: slurm, the memory of a seat's actions, and `retries`: how often tasks that ended
  // without any progress are submitted again.
  DeploySpec deploy;
  std::string experiment;
  // The program, its runfiles and the other programs that it runs, of which tasks run a copy (CopyProgram()); and the
  // arguments of `openset run`. If `program` is empty, tasks run `command`, whatever is there when they start.
  std::string program, runfiles;
  std::vector<std::string> other_programs;
  std::vector<std::string> command;
  // Fields of the array.
  bool only_these = false;
  FailuresBefore failures_before;
};

// Returns a seat that fits each action that the plan still needs; with a GPU if one of them runs on a GPU, or may be
// followed by one that does when a search has chosen.
SlurmSeat SeatFor(const Plan& plan, const ActionMemory& memory, const SlurmSpec& slurm);

// "1 GPU, 4 CPUs", "2 CPUs, 500 MB".
std::string DescribeSeat(const SlurmSeat& seat);

// Returns sbatch's options for this array.
std::vector<std::string> SbatchOptions(const SlurmSpec& slurm, const SlurmArray& array, const std::string& log_folder);

// Returns the script of each task: it runs the prologue, then the command in place of the shell (exec), so that the
// command receives Slurm's warning. If the copy of the program has changed, the script prints what is wrong with it,
// and fails.
std::string TaskScript(const SlurmOptions& options, const ProgramCopy& copy, const SlurmSeat& seat,
                       const std::string& array_file);

// Submits tasks for a study, for as long as its process lives. Not thread-safe.
class SlurmRun {
 public:
  // All arguments must outlive the object. `observer`, which may be null, is notified of what tasks report about
  // themselves; `say` gets lines for the user.
  SlurmRun(const Plan& plan, const Store& store, SlurmOptions options, EngineObserver* observer,
           std::function<void(const std::string& line)> say = nullptr)
      : plan_(plan), store_(store), options_(std::move(options)), observer_(observer), say_(std::move(say)) {}

  // Sets the options of ExecutePlan() for this process. The object must outlive the run.
  void SetUp(ExecuteOptions* execute);

  // Submits as many tasks as there is open work for, less those in the queue, up to the limits. If Slurm stops
  // answering, says so once; the next call tries again. A submission is tried up to four times in
  // a row. Errors: kNotFound if Slurm is not installed; kFailedPrecondition if it refuses the job, or if the program or
  // its copy has changed; a read error (core/files/system_calls.h) or a write error (core/files/files.h) for a file of
  // the program; kDeadlineExceeded or kAborted if the check of the copy does not end or fails; kUnavailable also if
  // tasks have ended `retries` + 1 times without a result.
  absl::Status SubmitFor(const OpenWork& work);

 private:
  // Returns how many tasks of this study are in the queue.
  int CountQueued(const std::vector<SlurmTask>& queue) const;
  // Submits this many tasks, or as many of them as the cluster accepts.
  absl::Status Submit(int tasks, bool are_some_queued);
  // Submits an array and records it in the store. If Slurm's answer is lost, a submission that succeeded all the same
  // is found by its name.
  absl::Status SubmitArray(int tasks);
  // Says, unless the last answer was missing too, that Slurm does not answer. OK: the next poll tries again.
  absl::Status TryLater(const absl::Status& status);
  // Notifies the observer of what the tasks report.
  void ShowRunning(const std::vector<ActionId>& held);

  const Plan& plan_;  // grows by choices
  const Store& store_;
  SlurmClient client_;
  const SlurmOptions options_;
  EngineObserver* observer_;
  const std::function<void(const std::string& line)> say_;
  ProgramCopy copy_;
  bool has_asked_ = false;                // whether Slurm has ever answered
  bool answers_ = true;                   // the last time
  bool is_watching_ = false;              // whether tasks have been in the queue
  int attempts_ = 0;                      // to submit, in succession, that did not reach Slurm
  int most_tasks_ = 0;                    // of an array; 0: not asked yet
  int empty_looks_ = 0;                   // in succession, at which no task was in the queue, though there was work
  int submissions_without_progress_ = 0;  // submissions in succession whose tasks have ended without a result
  int ended_ = 0;                         // actions of the run that had ended at the last submission
  std::set<ActionId> started_;            // the observer knows of them
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
