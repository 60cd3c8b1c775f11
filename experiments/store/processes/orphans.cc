#include "experiments/store/processes/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/system_calls.h"
#include "core/files/temporary_folder.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr const char* kTemporaryFolders[] = {"partial", "tmp"};

// `now` is by the clock of the store's disk.
absl::StatusOr<bool> IsOrphan(int folder_fd, const std::string& name, const std::string& path, absl::Time now) {
  const std::optional<ProcessName> owner = OwnerOfTemporary(name);
  if (!owner.has_value()) return false;
  struct stat info;
  if (fstatat(folder_fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return false;
    return ReadError(errno, absl::StrCat("cannot look at ", path));
  }
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return false;
  if (owner->IsHere()) return kill(owner->pid, 0) != 0 && errno == ESRCH;
  return now - absl::TimeFromTimespec(info.st_mtim) > kOldTemporary;
}

// Calls `use` for each orphan with a descriptor of its folder, its name and its path.
absl::Status ForEachOrphan(
    const Store& store, absl::Time now,
    const std::function<void(int folder_fd, const std::string& name, const std::string& path)>& use) {
  if (!store.CheckIsStore().ok()) return absl::OkStatus();
  for (const char* kind : kTemporaryFolders) {
    const std::string folder = JoinPath(store.folder(), kind);
    const int folder_fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder_fd < 0) {
      if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR) continue;  // not there, or a link or file of others
      return ReadError(errno, absl::StrCat("cannot list ", folder));
    }
    const absl::Cleanup close_it = [folder_fd] { close(folder_fd); };
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesInFolder(folder));
    for (const std::string& name : names) {
      const std::string path = JoinPath(folder, name);
      OPENSET_ASSIGN_OR_RETURN(const bool is_orphan, IsOrphan(folder_fd, name, path, now));
      if (is_orphan) use(folder_fd, name, path);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> Orphans(const Store& store, absl::Time now) {
  std::vector<std::string> orphans;
  OPENSET_RETURN_IF_ERROR(
      ForEachOrphan(store, now, [&](int, const std::string&, const std::string& path) { orphans.push_back(path); }));
  return orphans;
}

void SweepTemporaries(const Store& store) {
  if (!store.CheckIsStore().ok()) return;  // asking for the time would make it one
  // Without the disk's clock, files of other machines don't count as old.
  ForEachOrphan(
      store, store.Now().value_or(absl::InfinitePast()),
      [](int folder_fd, const std::string& name, const std::string&) { RemoveTree(folder_fd, name).IgnoreError(); })
      .IgnoreError();
}

}  // namespace openset
