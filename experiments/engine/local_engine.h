// Runs actions on this machine.
#ifndef OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
#define OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/engine/cpus/cpu_pins.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/leaving_workers.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

struct LocalEngineOptions {
  // Command lines of the workers: one that trains and infers (with LibTorch), one that evaluates.
  std::vector<std::string> trainer;
  std::vector<std::string> evaluator;
  Capacity capacity;
  std::vector<std::string> data_folders;
  // A worker that gives no sign of life for so long is killed. Messages are such signs, and that it uses the CPU; on a
  // GPU the latter only until the action's first message, as who waits for a GPU that hangs uses the CPU too.
  absl::Duration hang = absl::Minutes(10);
  // A GPU that a dead worker has not left for so long is not used any more.
  absl::Duration leave = absl::Minutes(1);
  ProcessesOnGpu processes_on_gpu = ComparableGpuProcesses;
};

// Its workers are processes that live on from action to action; one that dies takes its action with it, nothing else.
// What a training or an inference writes is in a log of its own in the store (experiments/worker/action_log.h), all
// else in its worker's beside it. A worker stays on the GPU of its first action, or on none. Where there are as many
// CPU slots as CPUs, each action has CPUs of its own (cpus/cpu_pins.h). An action ends with kUnavailable if its worker
// died, kDeadlineExceeded if it hung. A worker whose device or memory failed (WorkOutcome.is_last) gets no other
// action. LibTorch on GPUs uses "expandable_segments:True" unless PYTORCH_CUDA_ALLOC_CONF or PYTORCH_ALLOC_CONF is set.
// One that starts on a GPU where a worker died, hung or was killed waits until nothing of that is left there
// (leaving_workers.h). Start() fails with kNotFound if the worker's program cannot be started, kUnavailable for lack of
// system resources; so does an action that had to wait.
class LocalEngine : public Engine {
 public:
  LocalEngine(const Store& store, LocalEngineOptions options);
  ~LocalEngine() override;

  const Capacity& capacity() const override { return options_.capacity; }
  absl::Status Start(ActionId action, int gpu, WorkRequest request) override;
  std::vector<EngineEvent> Wait(int wake, absl::Duration at_most) override;
  void GiveCpus(ActionId action, int cpu_slots) override;
  void AskToStop(ActionId action) override;
  void Kill(ActionId action) override;
  void KillAll() override;

 private:
  struct Worker;
  // An action that has been started, and what it waits for is its GPU.
  struct Waiting {
    ActionId action;
    int gpu;
    WorkRequest request;
    bool is_to_stop = false;
  };

  // Gives the action to a worker; false, and nothing is done, while its GPU is not free.
  absl::StatusOr<bool> Begin(const Waiting& start);
  // Begins what waits and can, or says why it never will.
  void BeginWaiting(std::vector<EngineEvent>* events);
  // A worker of the kind that waits for work; null if there is none.
  Worker* IdleWorker(bool trainer, int gpu);
  absl::StatusOr<Worker*> NewWorker(bool trainer, int gpu);
  void Remove(Worker* worker);
  EngineEvent ReadEvent(Worker* worker);
  // Of workers that hang, which it kills.
  void AddHung(std::vector<EngineEvent>* events);
  // Its action is over.
  void MakeIdle(Worker* worker);

  const Store store_;
  const LocalEngineOptions options_;
  CpuPins pins_;
  std::vector<std::unique_ptr<Worker>> workers_;  // about as many as there are seats
  LeavingWorkers leaving_;
  std::vector<Waiting> waiting_;
  absl::Duration looked_;  // for those that hang
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
