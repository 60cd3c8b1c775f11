#include "core/files/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"
#include "core/status_macros.h"

namespace openset {
namespace {

absl::Status CannotRemove(const std::string& name) {
  return absl::UnavailableError(absl::StrCat("cannot remove ", name, ": ", std::strerror(errno)));
}

// Takes ownership of the descriptor.
absl::StatusOr<std::vector<std::string>> NamesIn(int folder, const std::string& name) {
  DIR* const stream = fdopendir(folder);
  if (stream == nullptr) {
    const absl::Status status = CannotRemove(name);
    close(folder);
    return status;
  }
  const absl::Cleanup close_it = [stream] { closedir(stream); };
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    const std::string found = entry->d_name;
    if (found != "." && found != "..") names.push_back(found);
  }
  if (errno != 0) return CannotRemove(name);
  return names;
}

}  // namespace

absl::Status RemoveTree(int folder, const std::string& name) {
  struct stat info;
  if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? absl::OkStatus() : CannotRemove(name);
  }
  if (!S_ISDIR(info.st_mode)) {
    return unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT ? absl::OkStatus() : CannotRemove(name);
  }
  const int inside = openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inside < 0) return CannotRemove(name);
  const absl::Cleanup close_it = [inside] { close(inside); };
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(fcntl(inside, F_DUPFD_CLOEXEC, 0), name));
  for (const std::string& below : names) OPENSET_RETURN_IF_ERROR(RemoveTree(inside, below));
  return unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? absl::OkStatus() : CannotRemove(name);
}

absl::Status RemoveTree(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string above = whole.has_parent_path() ? whole.parent_path().string() : ".";
  const int folder = OpenFile(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    if (errno == ENOENT) return absl::OkStatus();
    const absl::Status status = CannotRemove(path);
    const absl::Status link = CheckNoLink(above);
    return link.ok() ? status : link;
  }
  const absl::Cleanup close_it = [folder] { close(folder); };
  return RemoveTree(folder, whole.filename().string());
}

}  // namespace openset
