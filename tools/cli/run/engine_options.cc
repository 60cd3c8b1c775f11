#include "tools/cli/run/engine_options.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/in_parallel.h"
#include "core/machine/machine.h"
#include "core/process/build_info.h"
#include "core/status_macros.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/run/worker_program.h"

namespace openset {

int CpuSlots(const DeploySpec& deploy) { return deploy.jobs() > 0 ? deploy.jobs() : NumThreads(); }

absl::StatusOr<LocalEngineOptions> EngineOptions(const DeploySpec& deploy,
                                                 const std::vector<std::string>& catalog_folders) {
  LocalEngineOptions options;
  options.capacity.cpu_threads = CpuSlots(deploy);
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, DevicesFromFlags());
  options.capacity.gpus = devices.cuda;
  options.capacity.shares_per_gpu = deploy.actions_per_gpu();
  options.capacity.memory_mb =
      deploy.memory_mb() == 0 && deploy.memory_per_slot_mb() > 0 ? MachineMemoryMb() : deploy.memory_mb();
  options.hang = absl::Seconds(deploy.hang_seconds());
  OPENSET_ASSIGN_OR_RETURN(options.data_folders, DataFoldersFromFlags());

  options.trainer = {deploy.worker()};
  std::string worker = deploy.worker();
  if (worker.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
    worker =
        JoinPath(runfiles, IsStamped() ? "openset/tools/openset_worker" : "openset/tools/openset_worker_unstamped");
    OPENSET_ASSIGN_OR_RETURN(options.trainer, WorkerProgram(worker, runfiles));
  }
  if (!FileExists(worker)) return absl::NotFoundError(absl::StrCat("the worker doesn't exist: ", worker));
  options.trainer.insert(options.trainer.end(), catalog_folders.begin(), catalog_folders.end());
  options.evaluator = {ProgramPath(), "evaluate-worker"};
  return options;
}

}  // namespace openset
