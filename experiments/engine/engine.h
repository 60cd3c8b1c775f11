// Interface for running actions, on this machine (local_engine.h) or elsewhere. The scheduler decides which action runs
// next, the engine how it runs.
//
// The life of an engine:
//   1. capacity() returns how much it can run at once.
//   2. Start() begins an action, on the seat that the scheduler assigned to it.
//   3. Wait() returns events about the actions, until each of them has ended.
//   4. AskToStop() asks an action to save its state and end; Kill() kills it; KillAll(), or the engine's destructor,
//      kills all running actions.
#ifndef OPENSET_EXPERIMENTS_ENGINE_ENGINE_H_
#define OPENSET_EXPERIMENTS_ENGINE_ENGINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "experiments/engine/scheduler.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// An event of an action: it made progress, or it ended.
struct EngineEvent {
  ActionId action;
  std::optional<WorkProgress> progress;
  // How it ended; absent if it is still running. OK: its result is in the store.
  std::optional<absl::Status> end;
  // Set only with an error in `end`: the action has not begun, because its GPU is no longer usable.
  bool gpu_is_lost = false;
  // The last lines of the action's log, if it failed.
  std::string log_tail;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const Capacity& capacity() const = 0;

  // Begins an action and returns at once. `gpu` is the ordinal of its seat's GPU, -1 for none. The engine fills in the
  // request's paths (store, data_folder) and device. On error the action did not begin and may be started again;
  // running actions are unaffected.
  virtual absl::Status Start(ActionId action, int gpu, WorkRequest request) = 0;

  // Waits until an event occurs, the descriptor `wake` is readable or `at_most` has passed. Returns the events, in
  // order for each action. An action has no events after its end.
  virtual std::vector<EngineEvent> Wait(int wake, absl::Duration at_most) = 0;

  // Sets how many CPUs a running action may keep busy in total, from now on. By default, this has no effect.
  virtual void GiveCpus(ActionId /*action*/, int /*cpu_slots*/) {}

  // Asks a running action to stop, and returns at once. A training saves its state after its current step and ends with
  // kCancelled; any other action runs to its end.
  virtual void AskToStop(ActionId action) = 0;
  // Kills a running action. It has no further events; what it has saved so far stays in the store.
  virtual void Kill(ActionId action) = 0;
  // Kills all running actions. They have no further events; what they have saved so far stays in the store.
  virtual void KillAll() = 0;
};

// ---- Interface for observers of a run.

// Receives the events of a run, in the thread that executes the plan. The default methods do nothing.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  // Everything is ready and nothing has started. `quarantined` lists the corrupt results that were moved to
  // quarantine/, one line each; `others` are the other processes that run the same study on this store.
  virtual void OnBegin(const std::vector<std::string>& /*quarantined*/, const std::vector<RunState>& /*others*/) {}
  virtual void OnStart(ActionId /*action*/) {}
  virtual void OnProgress(ActionId /*action*/, const WorkProgress& /*progress*/) {}
  // Also called for an action that was done together with another one, or by another process, and never started here.
  virtual void OnFinish(ActionId /*action*/, const absl::Status& /*status*/) {}
  // The action is not attempted, because an input failed; or it ended because the store failed.
  virtual void OnSkip(ActionId /*action*/) {}
  // The engine could not start the action. If others are running, it is retried when one of them has ended.
  virtual void OnStartFailure(ActionId /*action*/, const absl::Status& /*status*/) {}
  // After OnStart(), the action's GPU turned out to be lost: the action waits for a seat again.
  virtual void OnGpuLost(ActionId /*action*/, const absl::Status& /*why*/) {}
  // The attempt failed for a reason that may be temporary; the next one begins after `wait`.
  virtual void OnRetry(ActionId /*action*/, const absl::Status& /*status*/, absl::Duration /*wait*/) {}
  // Another process, with this run id, works on the action, and this process waits for the result. `was_ours`: the
  // other process took the action over because this one slept.
  virtual void OnElsewhere(ActionId /*action*/, const std::string& /*run_id*/, bool /*was_ours*/) {}
  // A choice, which OnStart() announced, added actions that are needed; its OnFinish() follows.
  virtual void OnGrowth(const std::vector<ActionId>& /*added*/) {}
  // Called several times a second.
  virtual void OnTick() {}
  // Fills in what this process is doing, for other processes to read (Leases::Renew()).
  virtual void Describe(RunState* /*state*/) const {}

  // Notify about the action and its passengers.
  void FinishAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnFinish(id, absl::OkStatus());
  }
  void SkipAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnSkip(id);
  }
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_H_
