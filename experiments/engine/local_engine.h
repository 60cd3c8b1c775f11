// Runs actions in workers on this machine, each on its own CPUs, and keeps a GPU closed while a dead worker still uses
// it.
#ifndef OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
#define OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/process/subprocess.h"
#include "experiments/engine/engine.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// ---- Tracks dead or killed workers of GPUs until none of their processes uses the GPU any more.

// Returns the processes that compute on a GPU, given by CUDA's ordinal, with process ids as seen here. Error: they
// can't be determined.
using ProcessesOnGpu = std::function<absl::StatusOr<std::vector<pid_t>>(int gpu)>;

// Asks the driver (GpuProcesses(), core/process/gpu/gpus.h). kFailedPrecondition in a container that has its own
// process ids.
absl::StatusOr<std::vector<pid_t>> ComparableGpuProcesses(int gpu);

// A worker has left its GPU when all processes of its group have ended and the driver, if it can be asked, no longer
// lists any of them. A killed process may stay in the driver for a while, or forever, and its memory may outlive it.
class LeavingWorkers {
 public:
  // A GPU is lost if a worker has not left it within `limit` after Add().
  LeavingWorkers(ProcessesOnGpu processes_on_gpu, absl::Duration limit);

  // Adds a worker of this GPU, and kills its remaining processes.
  void Add(int gpu, std::unique_ptr<Subprocess> worker);

  // Whether all workers have left this GPU. Does not wait. Stays false for a GPU that is lost.
  bool IsFree(int gpu);

  // Returns kUnavailable, with a sentence that names the process that has not left, if IsFree() found the GPU lost;
  // otherwise OK.
  absl::Status Lost(int gpu) const;

 private:
  struct Leaving {
    int gpu;
    std::unique_ptr<Subprocess> worker;
    absl::Duration since;
  };

  const ProcessesOnGpu processes_on_gpu_;
  const absl::Duration limit_;
  std::vector<Leaving> leaving_;
  std::map<int, absl::Status> lost_;  // by GPU
};

// ---- Pins each action to its own CPUs.

// Divides the CPUs of this process among actions.
class CpuPins {
 public:
  // `slots`: how many single-threaded actions run at the same time. Nothing is pinned unless this is the number of
  // CPUs: with fewer slots, other programs may use the machine too, and the system chooses free CPUs better.
  explicit CpuPins(int slots);

  bool pins() const { return pins_; }

  // Takes the first `count` CPUs that nobody has taken; fewer, or none, if not enough are left.
  std::vector<int> Take(int count);
  void GiveBack(const std::vector<int>& cpus);

  // Binds all current threads of the process, and those that they will start, to these CPUs; if `cpus` is empty, to all
  // CPUs of this process. Does nothing if the system refuses.
  void Pin(pid_t process, const std::vector<int>& cpus) const;

 private:
  std::vector<int> all_, free_;  // ascending
  bool pins_;
};

// ---- Runs actions on this machine.

struct LocalEngineOptions {
  // Command lines of the workers: one that trains and infers (with LibTorch), one that evaluates.
  std::vector<std::string> trainer;
  std::vector<std::string> evaluator;
  Capacity capacity;
  std::vector<std::string> data_folders;
  // Whether the user allows trainings by other programs (CommandSpec).
  bool allow_commands = false;
  // A worker that gives no sign of life for this long is killed. Signs of life are each byte that it sends, use of the
  // CPU, and reading (also of what it is sent). While it sends a message, only the bytes count; likewise after the
  // action's first message on a GPU, or for a training by another program, since a process that waits for one of these
  // also uses the CPU.
  absl::Duration hang = absl::Minutes(10);
  // If a dead worker has not left its GPU after this long, the GPU is no longer used.
  absl::Duration leave = absl::Minutes(1);
  ProcessesOnGpu processes_on_gpu = ComparableGpuProcesses;
};

// Runs actions in worker processes, which are reused from action to action; if a worker dies, only its action fails.
// The output of a training or an inference goes to its own log in the store (experiments/worker/action_log.h), all
// other output to the worker's log next to it. A worker stays on the GPU of its first action, or on none. If there are
// as many CPU slots as CPUs, each action has its own CPUs (CpuPins). LibTorch on GPUs uses "expandable_segments:True"
// unless PYTORCH_CUDA_ALLOC_CONF or PYTORCH_ALLOC_CONF is set. An action ends with kUnavailable if its worker died, or
// was killed because it sent anything but a WorkEvent; kDeadlineExceeded if it hung. A worker whose device or memory
// failed (WorkOutcome.is_last) gets no further actions. A worker that starts on a GPU where another one died, hung or
// was killed waits until that worker has left the GPU (LeavingWorkers). Start() fails with kNotFound if the worker's
// program cannot be started, and with kUnavailable if system resources are lacking; an action that had to wait ends
// with the same errors.
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
  // An action that has been started and waits for its GPU.
  struct Waiting {
    ActionId action;
    int gpu;
    WorkRequest request;
    bool is_to_stop = false;
  };

  // Gives the action to a worker. Returns false and does nothing if its GPU is not free yet.
  absl::StatusOr<bool> Begin(const Waiting& start);
  // Begins the waiting actions that can begin, and adds events for those that never will.
  void BeginWaiting(std::vector<EngineEvent>* events);
  // The worker that runs the action; null if it waits for its GPU.
  Worker* WorkerOf(ActionId action) const;
  // Returns an idle worker of this kind; null if there is none.
  Worker* IdleWorker(bool trainer, int gpu);
  absl::StatusOr<Worker*> NewWorker(bool trainer, int gpu);
  void Remove(Worker* worker);
  // Sends and receives what is possible without waiting, and adds the events of the messages that arrived.
  void AddEvents(Worker* worker, std::vector<EngineEvent>* events);
  // Ends the worker's action: its last message has arrived or, if `received` is an error, can't be read.
  EngineEvent EndAction(Worker* worker, absl::Status received, const WorkEvent& event);
  // Kills workers that hang, and adds their events.
  void AddHung(std::vector<EngineEvent>* events);
  // The worker's action is over.
  void MakeIdle(Worker* worker);

  const Store store_;
  const LocalEngineOptions options_;
  CpuPins pins_;
  std::vector<std::unique_ptr<Worker>> workers_;  // about one per seat
  LeavingWorkers leaving_;
  std::vector<Waiting> waiting_;
  absl::Duration looked_;  // last check for hanging workers
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LOCAL_ENGINE_H_
