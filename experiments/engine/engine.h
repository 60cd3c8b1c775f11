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

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_H_
