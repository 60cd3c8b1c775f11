// Runs a plan: the scheduler decides what starts, an engine runs it, an observer is notified. The parts of the loop
// follow: retries, the order of the work, polling, idle CPUs and claims.
#ifndef OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
#define OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/action/action.h"
#include "experiments/action/stage.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/scheduler.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// For each action's key, the number of attempts that had failed before the start of a run that several processes share.
// 0 if absent.
using FailuresBefore = std::map<std::string, int>;

// Makes a choice (ActionKind::kChoose) whose inputs are done, which adds the tuned trial to the plan. Returns the
// actions that are newly needed, inputs first (Planner::Choose()).
using MakeChoice = std::function<absl::StatusOr<std::vector<ActionId>>(ActionId choice)>;

// Work that this process leaves to others, at one point in time.
struct OpenWork {
  std::vector<ActionId> open;  // can start, and nobody has claimed it
  std::vector<ActionId> held;  // claimed by other processes
  int ended = 0;               // actions of the run that are done or have failed
};

struct ExecuteOptions {
  // The fields that apply here: memory, retries, max_failures. Study::Run() also uses lease_seconds.
  DeploySpec deploy;
  // The wait before the first retry of an action (WaitBeforeRetry()).
  absl::Duration first_wait = absl::Seconds(1);
  // Prevents other processes from doing the same actions. Null: there are no other processes.
  Leases* leases = nullptr;
  // Whether this process starts actions. If not, it leaves them to other processes and waits for their results.
  bool starts_actions = true;
  // Whether it makes the choices of searches. If not, it also leaves out what they would add.
  bool makes_choices = true;
  // A process that has had nothing to claim for this long ends, even if others are still working. Absent: it waits for
  // them.
  std::optional<absl::Duration> idle_timeout;
  // Called at each poll, to find processes for the work that this one leaves to others. An error ends the run.
  std::function<absl::Status(const OpenWork&)> on_open_work;
  // For processes that share a run (Claims). May be null.
  const FailuresBefore* failures_before = nullptr;
  // Time between two polls of what other processes are doing; longer if a poll takes long.
  absl::Duration poll_interval = absl::Seconds(1);
  // For a process whose time is running out (SIGUSR1): it starts no new actions, each training saves its state and
  // ends, and anything still running after this time is killed. The error is TimeIsUp().
  absl::Duration ending = absl::Minutes(1);
  // How long trainings may take to save their states after SIGINT, SIGTERM or SIGHUP.
  absl::Duration saving = absl::Seconds(10);
};

// The status of a process that was ended by SIGUSR1: kCancelled.
absl::Status TimeIsUp();

// Executes the needed actions of a plan, each as soon as its inputs are done and a seat is free. Later steps of a trial
// start before earlier ones, so that trials complete; among these, actions with more work left up to their record start
// first, so that no long action is left for the end. Stage::Needs() gives the resources that an action needs. A choice
// needs no seat: this process makes it by calling `choose`, and executes the actions that this adds to the plan.
//
// If another process is working on an action, this one waits for the result, and takes the action over if that process
// dies. A failed action is recorded in the store (FailureRecord) and, if the failure may be temporary, retried. After
// its last attempt, the actions that depend on it are skipped; all others continue. If the engine cannot start an
// action, running actions continue, and the start is retried whenever one of them has ended. If the store is full or
// gone, nothing new is started, running actions may finish, and no failures of actions are recorded.
// SIGINT, SIGTERM or SIGHUP stops the run: each training saves its state and ends, and all other actions are killed; a
// second signal kills everything at once. The next run resumes from the saved states.
// Errors: kAborted if actions failed (with their number); kCancelled if the run was stopped; kFailedPrecondition if an
// action needs a device that is not there; kUnavailable if the store failed, or if GPUs were lost and none is left; the
// engine's error if an action could not be started and nothing is running; any error that `on_open_work` returns.
absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
                         Engine* engine, EngineObserver* observer);

// ---- Which failures are retried, and when.

// Whether a failure may be temporary: kUnavailable (a worker died, was killed or could not be reached, or a GPU
// failed), kDeadlineExceeded (it hung), kResourceExhausted (memory, for example of a GPU that others also use). All
// other failures would recur: a diverged training (kAborted), corrupt data, invalid values, an exception of LibTorch
// (kInternal).
inline bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsResourceExhausted(status);
}

// Returns the wait before the next attempt after `failed` failed ones: after each, four times as long as before, up to
// an hour. Precondition: failed >= 1.
inline absl::Duration WaitBeforeRetry(absl::Duration first_wait, int failed) {
  absl::Duration wait = first_wait;
  for (int n = 1; n < failed && wait < absl::Hours(1); ++n) wait *= 4;
  return std::min(wait, absl::Hours(1));
}

// ---- The statuses and records of failed attempts and of runs.

// Returns the record of an attempt at `action` that failed just now, on this machine.
FailureRecord FailureOf(const Plan& plan, const Action& action, const absl::Status& status);

// Returns why an attempt failed. If `where` is not empty, it is appended in brackets.
absl::Status StatusOf(const FailureRecord& failure, const std::string& where = "");

// Returns the status of a run in which `failed` actions failed: OK if it is 0, else kAborted.
absl::Status SomeActionsFailed(int failed, const std::string& rest = "");

// Returns the status (kUnavailable) of a run that lost its last GPU, with the reason `why`.
absl::Status NoGpuIsLeft(const absl::Status& why);

// Returns the status (kUnavailable) of a run whose store can't be written, with the reason `why`.
absl::Status StoreIsGone(const Store& store, const absl::Status& why);

// Returns the status (kFailedPrecondition) of a run whose process has no GPU although `action` needs one.
absl::Status NeedsGpu(const Plan& plan, const Action& action);

// The CPU threads that other actions leave to one on a GPU, whose own threads launch its kernels and make its batches
// (they may run on any CPU): two, but at most an equal share of all threads but one.
int ThreadsBesideGpu(const Capacity& capacity);

// The attempts of one process at the actions of a plan: their progress, their failures, and when they are retried.
class Attempts {
 public:
  // `retries`: of an action, after its first attempt.
  Attempts(int retries, absl::Duration first_wait) : retries_(retries), first_wait_(first_wait) {}

  void Progressed(ActionId id, const WorkProgress& progress) {
    if (progress.epoch() > 0) epochs_[id] = progress.epoch();
  }
  // The action no longer runs.
  void Ended(ActionId id) { epochs_.erase(id); }

  // Whether an action whose attempt failed with `status` should be retried: the failure may be temporary, and retries
  // are left.
  bool ShouldRetry(ActionId id, const absl::Status& status) const {
    const auto failed = failed_.find(id);
    return IsTransient(status) && (failed == failed_.end() ? 0 : failed->second) < retries_;
  }
  // Returns the record of the attempt that failed just now.
  FailureRecord Record(const Plan& plan, ActionId id, const absl::Status& status, const std::string& log_tail,
                       bool retried) const {
    FailureRecord failure = FailureOf(plan, plan[id], status);
    failure.set_log_tail(log_tail);
    if (const auto epoch = epochs_.find(id); epoch != epochs_.end()) failure.set_epoch(epoch->second);
    failure.set_retried(retried);
    return failure;
  }
  // Counts a failed attempt and schedules the next one. Returns the wait before it.
  absl::Duration ScheduleRetry(ActionId id, absl::Duration now) {
    const absl::Duration wait = WaitBeforeRetry(first_wait_, ++failed_[id]);
    again_at_[id] = now + wait;
    return wait;
  }
  bool has_retries() const { return !again_at_.empty(); }
  // Returns the actions whose next attempt is due, and removes them from the schedule.
  std::vector<ActionId> TakeDue(absl::Duration now) {
    std::vector<ActionId> due;
    for (const auto& [id, at] : again_at_) {
      if (now >= at) due.push_back(id);
    }
    for (const ActionId id : due) again_at_.erase(id);
    return due;
  }

 private:
  const int retries_;
  const absl::Duration first_wait_;
  std::map<ActionId, int> epochs_;  // current epochs of running trainings
  std::map<ActionId, int> failed_;  // failed attempts of actions that are retried
  std::map<ActionId, absl::Duration> again_at_;
};

// ---- The amount of work that follows each action of a plan.

// Sets (*work)[id] of each of these actions (inputs first) to its own work plus the work of the longest path from it to
// a record. `work` may already contain actions that they depend on.
inline void AddWork(const Plan& plan, const std::vector<ActionId>& needed, std::vector<int64_t>* work) {
  work->resize(plan.actions.size());
  const auto work_of = [work](ActionId id) -> int64_t& { return (*work)[static_cast<size_t>(id)]; };
  for (auto id = needed.rbegin(); id != needed.rend(); ++id) {
    work_of(*id) += plan[*id].work;  // added to the work of the paths after it
    for (const ActionId input : plan[*id].inputs) work_of(input) = std::max(work_of(input), work_of(*id));
  }
}

// ---- When the loop polls, and when it ends.

// Decides when to poll the other processes of the store and when to send a heartbeat. Both are due at the first call.
// Uses one monotonic clock.
class PollSchedule {
 public:
  // Returns whether a heartbeat is due: one per `every`. If so, counts it as sent.
  bool TakeHeartbeat(absl::Duration now, absl::Duration every) {
    if (signed_.has_value() && now - *signed_ < every) return false;
    signed_ = now;
    return true;
  }

  // Whether a poll is due: one per `every`, or less often, so that polling takes at most 1/20 of the time.
  bool IsPollDue(absl::Duration now, absl::Duration every) const {
    return !began_.has_value() || now - *began_ >= std::max(every, 20 * took_);
  }
  void RecordPoll(absl::Duration began, absl::Duration ended) {
    began_ = began;
    took_ = ended - began;
  }

 private:
  std::optional<absl::Duration> signed_, began_;
  absl::Duration took_;
};

// How long a process waits for more work before it ends.
class IdleTimeout {
 public:
  // Absent: forever.
  explicit IdleTimeout(std::optional<absl::Duration> length) : length_(length) {}

  // Call it once per loop iteration. Returns whether the process has had no work for this long; the time before the
  // first call does not count.
  bool IsOver(absl::Duration now, bool has_work) {
    if (has_work || !busy_at_.has_value()) busy_at_ = now;
    return length_.has_value() && now - *busy_at_ >= *length_;
  }

 private:
  const std::optional<absl::Duration> length_;
  std::optional<absl::Duration> busy_at_;
};

// ---- Gives running actions the CPU slots that nothing else can use.

// Only actions whose results are bit-identical for any number of CPUs get more than they request, and only while no
// other action is ready: when they begin, and when others end.
class CpuSlots {
 public:
  // Both arguments must outlive the object.
  CpuSlots(Scheduler* scheduler, Engine* engine) : scheduler_(*scheduler), engine_(*engine) {}

  // Begins an action. Returns how many CPUs it may keep busy. `demand` is the size of its seat.
  int Begin(ActionId action, const Stage& stage, const Demand& demand);
  void End(ActionId action) { growing_.erase(action); }

  // Gives all free slots to one running action that can use them: the one with the smallest id.
  void GiveFree();

 private:
  Scheduler& scheduler_;
  Engine& engine_;
  std::map<ActionId, int> growing_;  // actions that can use more, with the slots that they have
};

// ---- Claims: the actions of a plan, divided among the processes of a store.

// Which actions this process claims, and what becomes of the others.
class Claims {
 public:
  // All arguments must outlive the object. If `leases` is null, there are no other processes. If `before` is null, this
  // process retries actions that failed in other processes before it started; otherwise, an action that has failed for
  // good since `before` counts as failed here too.
  Claims(const Plan& plan, const Store& store, Leases* leases, const FailuresBefore* before)
      : plan_(plan), store_(store), leases_(leases), before_(before) {}

  enum class Fate {
    kOpen,              // nobody works on it
    kRunningElsewhere,  // another process works on it
    kDone,
    kFailed,  // for good, in another process
  };
  struct Found {
    Fate fate = Fate::kOpen;
    std::string run_id;  // for kRunningElsewhere
  };

  // Tries to claim the action. kOpen: this process now has it. Errors: a read failure (IsReadFailure() in
  // experiments/store/store.h) of the store or of another process's claim (IsUnreadableClaim()); a write error
  // (core/files/files.h).
  absl::StatusOr<Found> TryClaim(ActionId id);
  void Release(ActionId id);

  // Leaves the action to the run `run_id`, or to any other process if `run_id` is empty.
  void LeaveTo(ActionId id, const std::string& run_id = "");
  // Returns the current fate of all actions that were left to others, and forgets those that are done or have failed.
  std::vector<std::pair<ActionId, Fate>> PollLeft();
  // Stops leaving the action to others.
  void TakeBack(ActionId id) { left_.erase(id); }
  // Returns why the action failed for good in another process.
  absl::Status FailureReason(ActionId id) const;

  // Returns the actions in `running` that other processes took over while this process slept, with the ids of their
  // runs.
  std::vector<std::pair<ActionId, std::string>> TakeLost(const std::set<ActionId>& running);

 private:
  Fate FateOf(ActionId id, int failures) const;
  int FailuresOf(ActionId id) const;
  bool HasFailed(ActionId id, int failures) const;

  const Plan& plan_;  // grows by choices
  const Store& store_;
  Leases* leases_;
  const FailuresBefore* before_;
  std::map<ActionId, int> left_;            // left to others, with the number of attempts that had failed then
  std::map<ActionId, std::string> run_of_;  // the last run known to work on it
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
