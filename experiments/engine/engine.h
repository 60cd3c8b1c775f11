// What runs actions: on this machine (local_engine.h) or elsewhere. The scheduler decides which, the engine how.
//
// The life of an engine:
//   1. capacity() says what it can run at once.
//   2. Start() begins an action, on the seat that the scheduler took for it.
//   3. Wait() tells what became of the actions, until each has ended.
//   4. AskToStop() asks one of them to save what it has and end; Kill() kills it; KillAll(), or the engine's end, kills
//      all that still run.
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

// Something happened to an action: it made progress, or it ended.
struct EngineEvent {
  ActionId action;
  std::optional<WorkProgress> progress;
  // How it ended; absent if it goes on. OK: its result is in the store.
  std::optional<absl::Status> end;
  // With `end`, which says why: it has not begun, as its GPU can't be used any more.
  bool gpu_is_lost = false;
  // Of an action that failed: the last lines of its log.
  std::string log_tail;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const Capacity& capacity() const = 0;

  // Begins an action and returns at once. `gpu` is the ordinal of its seat's GPU,
  // -1 for none. The engine fills in where the request's files are (store, data_folder) and its device.
  // Error: the action did not begin and can be started again; those that run are not touched.
  virtual absl::Status Start(ActionId action, int gpu, WorkRequest request) = 0;

  // Waits until something happened, the descriptor `wake` is readable or `at_most` has passed, and returns what
  // happened, in order for each action. An action that ended has no more events.
  virtual std::vector<EngineEvent> Wait(int wake, absl::Duration at_most) = 0;

  // From now on, an action that runs may keep so many CPUs busy, in all. Default: it goes on as before.
  virtual void GiveCpus(ActionId /*action*/, int /*cpu_slots*/) {}

  // A training that runs saves its state after the step that it is in, and ends with kCancelled; any other action goes
  // on to its end. Returns at once.
  virtual void AskToStop(ActionId action) = 0;
  // Kills an action that runs. There are no events of it any more; what it did so far stays in the store.
  virtual void Kill(ActionId action) = 0;
  // Kills all that runs. There are no events of it any more; what it did so far stays in the store.
  virtual void KillAll() = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_H_
