// Runs a plan on a Slurm cluster, with pilots.
//
// A pilot is a task of a job array: a process of `openset run` on one seat of a node, with one GPU or none. It claims
// unclaimed actions that run on such a seat, using leases like any process on the store (execute_plan.h). Near its time
// limit its trainings save their states, and it is queued again. If it has had nothing to claim for a while, it ends.
// Before it ends, it submits pilots for open actions that need the other kind of seat; a pilot with a GPU also does
// actions that need none, if nobody else does. The work therefore continues without the launcher, the process that
// submitted the first pilots. The launcher has no seat: it makes the choices, shows what the pilots do, and submits
// pilots for open actions.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_PILOTS_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_PILOTS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"

namespace openset {

struct PilotOptions {
  // With `program`, `submit.command` contains only the arguments of the copy. `submit.launch` is written before the
  // first submission.
  SubmitOptions submit;
  // The program that pilots run a copy of, its runfiles and the other programs that it runs (CopyProgram()). "": pilots
  // run `submit.command`.
  std::string program, runfiles;
  std::vector<std::string> other_programs;
  ActionMemory memory;
  // The maximum number of pilots at a time for each kind of seat; 0: the maximum number of tasks of an array.
  int most = 0;
  // How often pilots that ended without any progress are submitted again.
  int retries = 2;
  // Fields of the launch: see SlurmLaunch.
  std::vector<std::string> overrides;
  bool only_these = false;
  FailuresBefore failures_before;
};

// Completes a pilot's options for submitting further pilots, from the array that it is a task of.
absl::StatusOr<PilotOptions> OptionsOfPilot(const Store& store, const SlurmArray& array, PilotOptions options);

// Whether the action runs on a seat with a GPU.
bool RunsOnGpu(const Plan& plan, const Action& action, const ActionMemory& memory);
// Returns a seat that fits each of the plan's needed actions that run on such a seat (with or without a GPU).
SlurmSeat SeatFor(const Plan& plan, bool gpu, const ActionMemory& memory, const SlurmSpec& slurm);

// Set the options of ExecutePlan() for a launcher, which has no seat, and for a pilot on this seat. `pilots` must
// outlive the run.
void BeLauncher(const PilotOptions& pilots, ExecuteOptions* execute);
void BePilot(const Plan& plan, const SlurmSeat& seat, const PilotOptions& pilots, absl::Duration patience,
             ExecuteOptions* execute);

// Submits pilots for open actions, up to the limits, unless enough pilots are in the queue. Only one process does so at
// a time. If Slurm does not answer, the next look tries again. If all pilots of one kind have left the queue without
// any progress while there is work for them, they are submitted again, up to `retries` times; then the open actions of
// this kind are given up. Not thread-safe.
class SlurmPilots : public Helpers {
 public:
  // All arguments must outlive the object. `observer`, which may be null, is notified of what pilots report about
  // themselves.
  SlurmPilots(const Plan& plan, const Store& store, const SlurmClient& client, PilotOptions options,
              EngineObserver* observer)
      : plan_(plan), store_(store), client_(client), options_(std::move(options)), observer_(observer) {}

  // Errors: those of CopyProgram() and SubmitArray(); kNotFound if Slurm is not installed.
  absl::StatusOr<std::map<ActionId, absl::Status>> Find(const LeftWork& left) override;

  // "job 12: 3 pilots, 4 CPUs each", for each array that this object has submitted.
  const std::vector<std::string>& Submitted() const { return submitted_; }

 private:
  // The state of the pilots for one kind of seat.
  struct Fleet {
    bool is_watched = false;
    int missing = 0;  // consecutive looks at which none was in the queue, though there was work
    int fruitless = 0;
    // At the last submission: the number of ended actions, and when a training had last saved an epoch.
    int ended = 0;
    double saved_at = 0;
  };

  // Does everything that must precede the first submission, once.
  absl::Status Prepare();
  // Reads the arrays that any process submitted since the last call.
  void ReadArrays();
  // Returns the number of pilots of this kind in the queue.
  int CountQueued(const std::map<SlurmTaskId, std::string>& queue, bool gpu) const;
  // "its Slurm job 12 (NODE_FAIL)": the last array of this kind, whichever process submitted it, and how its first task
  // ended, if the cluster says.
  std::string DescribeLastJob(bool gpu) const;
  // Whether to give up on pilots for this seat, since they make no progress.
  bool IsFruitless(Fleet* fleet, const LeftWork& left, double saved_at) const;
  // Returns how many pilots to submit, if `open` actions are open, `held` are claimed by others, and `queued` pilots
  // are in the queue.
  int MoreFor(int open, int held, int queued) const;
  // Submits the missing pilots, or as many as the cluster accepts; none if another process is submitting.
  absl::Status Submit(bool gpu, const LeftWork& left, int held, int queued);
  double SavedAt(const LeftWork& left) const;
  void ShowRunning(const std::vector<ActionId>& held);

  const Plan& plan_;  // grows by choices
  const Store& store_;
  const SlurmClient& client_;
  PilotOptions options_;
  EngineObserver* observer_;
  bool is_prepared_ = false;
  int most_tasks_ = 0;
  std::map<std::string, SubmittedArray> arrays_;  // by their names
  std::vector<std::string> submitted_;
  std::map<bool, Fleet> fleets_;  // by whether their seats have a GPU
  std::set<ActionId> started_;    // actions that the observer was notified of
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_PILOTS_H_
