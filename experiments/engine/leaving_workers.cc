#include "experiments/engine/leaving_workers.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/machine/machine.h"
#include "core/process/gpu/gpus.h"
#include "core/process/steady_clock.h"

namespace openset {
namespace {

bool HasLeft(Subprocess* worker, const absl::StatusOr<std::vector<pid_t>>& on_gpu) {
  if (!worker->GroupHasEnded()) return false;
  if (!on_gpu.ok()) return true;
  const pid_t group = worker->pid();
  return std::none_of(on_gpu->begin(), on_gpu->end(),
                      [group](pid_t process) { return process == group || getpgid(process) == group; });
}

}  // namespace

absl::StatusOr<std::vector<pid_t>> ComparableGpuProcesses(int gpu) {
  if (!HasMachinePids())
    return absl::FailedPreconditionError("process ids differ between this container and the machine");
  return GpuProcesses(gpu);
}

LeavingWorkers::LeavingWorkers(ProcessesOnGpu processes_on_gpu, absl::Duration limit)
    : processes_on_gpu_(std::move(processes_on_gpu)), limit_(limit) {}

void LeavingWorkers::Add(int gpu, std::unique_ptr<Subprocess> worker) {
  worker->Kill(SIGKILL);
  leaving_.push_back({gpu, std::move(worker), SteadyNow()});
}

bool LeavingWorkers::IsFree(int gpu) {
  if (lost_.count(gpu) > 0) return false;
  const auto is_there = [gpu](const Leaving& leaving) { return leaving.gpu == gpu; };
  if (std::none_of(leaving_.begin(), leaving_.end(), is_there)) return true;
  const absl::StatusOr<std::vector<pid_t>> on_gpu = processes_on_gpu_(gpu);
  const auto has_left = [&](const Leaving& leaving) {
    return is_there(leaving) && HasLeft(leaving.worker.get(), on_gpu);
  };
  leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), has_left), leaving_.end());
  const auto stays = std::find_if(leaving_.begin(), leaving_.end(), is_there);
  if (stays == leaving_.end()) return true;
  if (SteadyNow() - stays->since >= limit_) {
    lost_[gpu] = absl::UnavailableError(absl::StrCat("GPU ", gpu, " is no longer used: worker ", stays->worker->pid(),
                                                     ", which was killed ", absl::FormatDuration(limit_),
                                                     " ago, has not left it (see nvidia-smi)"));
  }
  return false;
}

absl::Status LeavingWorkers::Lost(int gpu) const {
  const auto lost = lost_.find(gpu);
  return lost == lost_.end() ? absl::OkStatus() : lost->second;
}

}  // namespace openset
