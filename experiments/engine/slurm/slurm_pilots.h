// Runs a plan on a Slurm cluster, by pilots.
//
// A pilot is a task of a job array: a process of `openset run` on one seat of a node, with one GPU or none. It takes
// what is open of the actions that run on such a seat, by leases, as any process on the store does (execute_plan.h).
// Near its time limit its trainings save their states, and it is queued again. With nothing to claim for a while it
// ends. Before it ends, it submits pilots for open actions that need the other kind of seat; a pilot with a GPU also
// takes actions that need none, if nobody else does. So the work goes on without the launcher, which is the process
// that submitted the first pilots. The launcher has no seat: it makes the choices, shows what the pilots do, and
// submits pilots for what is open.
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
#include "experiments/engine/engine_observer.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"

namespace openset {

struct PilotOptions {
  // With `program`, its command is arguments of the copy. Its `launch` is written before the first submission.
  SubmitOptions submit;
  // The program that pilots run a copy of, with its runfiles and other programs (CopyProgram()). "": they run the
  // command.
  std::string program, runfiles;
  std::vector<std::string> other_programs;
  ActionMemory memory;
  // At most so many at once for each kind of seat; 0: as many as an array can have tasks.
  int most = 0;
  // How often pilots are submitted again that ended without any progress.
  int retries = 2;
  // Of the launch: see SlurmLaunch.
  std::vector<std::string> laid_over;
  bool only_these = false;
  FailuresBefore failures_before;
};

// Of a pilot: the options for those that it submits, after those of what it was submitted with.
absl::StatusOr<PilotOptions> OptionsOfPilot(const Store& store, const SlurmArray& array, PilotOptions options);

// Whether the action runs on a seat with a GPU.
bool RunsOnGpu(const Plan& plan, const Action& action, const ActionMemory& memory);
// What an action of the plan's needed ones takes at most, of those that run on such a seat.
SlurmSeat SeatFor(const Plan& plan, bool gpu, const ActionMemory& memory, const SlurmSpec& slurm);

// What ExecutePlan() is told by a launcher, which has no seat, and by a pilot on such a seat. `pilots` outlives the
// run.
void BeLauncher(const PilotOptions& pilots, ExecuteOptions* execute);
void BePilot(const Plan& plan, const SlurmSeat& seat, const PilotOptions& pilots, absl::Duration patience,
             ExecuteOptions* execute);

// Submits pilots for what is open, up to the limits, unless there are enough of them in the queue. Only one process
// does so at a time. Where Slurm does not answer it is tried at the next look. Pilots of a kind that have left the
// queue while there is work for them, and of which nothing has come, are submitted `retries` times more; then what is
// open for them is given up. Not for several threads.
class SlurmPilots : public Helpers {
 public:
  // All outlive the object. `observer`, which may be null, is told what pilots say of themselves.
  SlurmPilots(const Plan& plan, const Store& store, const SlurmClient& client, PilotOptions options,
              EngineObserver* observer)
      : plan_(plan), store_(store), client_(client), options_(std::move(options)), observer_(observer) {}

  // Errors: those of CopyProgram() and SubmitArray(); kNotFound where there is no Slurm.
  absl::StatusOr<std::map<ActionId, absl::Status>> Find(const LeftWork& left) override;

 private:
  // What is known of the pilots for a kind of seat.
  struct Fleet {
    bool is_watched = false;
    std::string job;  // the last one
    int missing = 0;  // looks at which none was in the queue, though there was work
    int fruitless = 0;
    // When pilots were submitted last: actions that had ended, and when a training had last saved an epoch.
    int ended = 0;
    double saved_at = 0;
  };

  // Once: whatever is needed before anything is submitted.
  absl::Status Prepare();
  // Reads what was submitted since the last call, by any process.
  void ReadArrays();
  // Pilots of this kind in the queue.
  int CountQueued(const std::map<SlurmTaskId, std::string>& queue, bool gpu) const;
  // Whether pilots for this seat are to be given up, as nothing comes of them.
  bool IsFruitless(Fleet* fleet, const LeftWork& left, double saved_at) const;
  // Pilots to submit where so many actions are open and with others, and so many pilots in the queue.
  int MoreFor(int open, int held, int queued) const;
  // Submits what is missing, or as many as the cluster takes; none where another process is at it.
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
  std::map<bool, Fleet> fleets_;                  // by whether their seats have a GPU
  std::set<ActionId> started_;                    // the observer knows
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_PILOTS_H_
