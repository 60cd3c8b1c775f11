#include "experiments/store/processes/stop_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

// The last part of a process's program; a program that was replaced since counts as well.
std::string ProgramOf(const std::string& process) {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink(absl::StrCat("/proc/", process, "/exe"), error).string();
  return std::string(absl::StripSuffix(path.substr(path.rfind('/') + 1), " (deleted)"));
}

// Whether the process runs this program and holds runs/ of the store open, as Leases do.
bool IsRunOn(const Store& store, pid_t process) {
  struct stat runs = {};
  const std::string name = absl::StrCat(process);
  if (StatFile(JoinPath(store.folder(), "runs"), &runs) != 0 || ProgramOf(name) != ProgramOf("self")) return false;
  const std::string descriptors = absl::StrCat("/proc/", name, "/fd");
  for (const std::string& descriptor : ListFolder(descriptors).value_or(std::vector<std::string>{})) {
    struct stat info = {};
    if (stat(JoinPath(descriptors, descriptor).c_str(), &info) != 0) continue;
    if (info.st_dev == runs.st_dev && info.st_ino == runs.st_ino) return true;
  }
  return false;
}

}  // namespace

absl::Status AskToStop(const Store& store, const RunState& run) {
  const std::optional<ProcessName> process = ParseProcessName(run.id());
  if (!process.has_value() || !process->IsHere()) {
    return absl::FailedPreconditionError("stop it on its machine, by Ctrl-C or kill -INT");
  }
  struct stat info = {};
  const FolderOfPath file(absl::StrCat(JoinPath(store.folder(), "runs"), "/", run.id(), ".rec"));
  if (!file.ok() || fstatat(file.folder(), file.name(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return absl::NotFoundError("has ended");
  }
  if (!S_ISREG(info.st_mode) || static_cast<int64_t>(info.st_uid) != UserId()) {
    return absl::PermissionDeniedError("belongs to another user, who must stop it");
  }
  if (IsDead(run.id())) return absl::NotFoundError("has ended");
  if (!IsRunOn(store, process->pid)) {
    return absl::FailedPreconditionError(
        absl::StrCat("is not a run of this openset on this store: stop it by Ctrl-C, or ", "by kill -INT ",
                     process->pid, " if it is yours"));
  }
  if (kill(process->pid, SIGINT) != 0) return absl::NotFoundError("has ended");
  return absl::OkStatus();
}

}  // namespace openset
