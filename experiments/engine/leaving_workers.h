// Tracks dead or killed workers of GPUs until none of their processes uses the GPU any more.
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

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_LEAVING_WORKERS_H_
