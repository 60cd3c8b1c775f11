#include "experiments/store/processes/orphans.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/temporary_name.h"

namespace openset {
namespace {

constexpr const char* kRooms[] = {"partial", "tmp"};

bool IsOrphan(int room, const std::string& name) {
  const std::optional<ProcessName> owner = OwnerOfTemporary(name);
  struct stat info;
  if (!owner.has_value() || fstatat(room, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return false;
  if (owner->IsHere()) return kill(owner->pid, 0) != 0 && errno == ESRCH;
  return absl::Now() - absl::TimeFromTimespec(info.st_mtim) > kOldTemporary;
}

// Calls `use` for each orphan with a descriptor of its folder, its name and its path.
void ForEachOrphan(const Store& store,
                   const std::function<void(int room, const std::string& name, const std::string& path)>& use) {
  if (!store.CheckIsStore().ok()) return;
  for (const char* kind : kRooms) {
    const std::string folder = JoinPath(store.folder(), kind);
    const int room = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (room < 0) continue;
    const absl::Cleanup close_it = [room] { close(room); };
    const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder);
    if (!names.ok()) continue;
    for (const std::string& name : *names) {
      if (IsOrphan(room, name)) use(room, name, JoinPath(folder, name));
    }
  }
}

}  // namespace

std::vector<std::string> Orphans(const Store& store) {
  std::vector<std::string> orphans;
  ForEachOrphan(store, [&](int, const std::string&, const std::string& path) { orphans.push_back(path); });
  return orphans;
}

void SweepTemporaries(const Store& store) {
  ForEachOrphan(store,
                [](int room, const std::string& name, const std::string&) { RemoveTree(room, name).IgnoreError(); });
}

}  // namespace openset
