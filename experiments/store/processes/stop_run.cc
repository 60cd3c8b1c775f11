#include "experiments/store/processes/stop_run.h"

#include <signal.h>
#include <sys/stat.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "core/machine/process_name.h"
#include "experiments/store/processes/leases.h"

namespace openset {

absl::Status AskToStop(const Store& store, const RunState& run) {
  const std::optional<ProcessName> process = ParseProcessName(run.id());
  if (!process.has_value() || !process->IsHere()) {
    return absl::FailedPreconditionError("stop it on its machine, by Ctrl-C or kill -INT");
  }
  struct stat info = {};
  const std::string path = absl::StrCat(JoinPath(store.folder(), "runs"), "/", run.id(), ".rec");
  if (lstat(path.c_str(), &info) != 0) return absl::NotFoundError("has ended");
  if (!S_ISREG(info.st_mode) || static_cast<int64_t>(info.st_uid) != UserId()) {
    return absl::PermissionDeniedError("belongs to another user, who must stop it");
  }
  if (IsDead(run.id()) || kill(process->pid, SIGINT) != 0) return absl::NotFoundError("has ended");
  return absl::OkStatus();
}

}  // namespace openset
