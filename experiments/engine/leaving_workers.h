// Workers of GPUs that have died or were killed, until nothing of them is left there.
#ifndef OPENSET_EXPERIMENTS_ENGINE_LEAVING_WORKERS_H_
#define OPENSET_EXPERIMENTS_ENGINE_LEAVING_WORKERS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/process/subprocess.h"

namespace openset {

// The processes that compute on a GPU, by CUDA's ordinal, with ids as they are here. An error: that can't be told.
using ProcessesOnGpu = std::function<absl::StatusOr<std::vector<pid_t>>(int gpu)>;

// What the driver says (GpuProcesses(), core/process/gpu/gpus.h). kFailedPrecondition in a container with ids of its
// own.
absl::StatusOr<std::vector<pid_t>> ComparableGpuProcesses(int gpu);

// A worker has left its GPU when all processes of its group have ended and the driver, where it can be asked, names
// none of them any more: a process that is killed may stay within the driver for a while, or for ever, and memory
// outlives the process that held it.
class LeavingWorkers {
 public:
  // A GPU that one of them has not left so long after Add() is lost.
  LeavingWorkers(ProcessesOnGpu processes_on_gpu, absl::Duration limit);

  // Takes a worker of this GPU, and kills what is left of it.
  void Add(int gpu, std::unique_ptr<Subprocess> worker);

  // Whether all workers have left this GPU; looks, and does not wait. False for one that is lost, for good.
  bool IsFree(int gpu);

  // OK; of a GPU that IsFree() found lost, kUnavailable with the process that stays, a sentence.
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

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LEAVING_WORKERS_H_
