#include "core/files/system_calls.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace openset {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return absl::StatusCode::kResourceExhausted;
    case ELOOP:
      return absl::StatusCode::kDataLoss;
    case ENAMETOOLONG:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::Status ReadError(int error, absl::string_view message) {
  return absl::Status(CodeOf(error), absl::StrCat(message, ": ", std::strerror(error)));
}

bool IsDiskError(const absl::Status& status) {
  if (status.ok()) return false;
  for (const int error : {ENOSPC, EDQUOT, ESTALE, ENODEV, ENOTCONN, EIO, EROFS}) {
    if (absl::StrContains(status.message(), std::strerror(error))) return true;
  }
  return false;
}

namespace {

using Names = std::set<std::string, std::less<>>;  // "records", or "programs/*"

struct Registry {
  std::shared_mutex mutex;
  std::map<std::string, Names, std::less<>> closed;  // names by folder
};

Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

// A path in a closed folder.
struct Place {
  std::string top;
  std::string below;  // "records/ab/x.rec"
};

std::optional<Place> PlaceOf(const std::string& path) {
  Registry& registry = TheRegistry();
  const std::shared_lock<std::shared_mutex> lock(registry.mutex);
  if (registry.closed.empty()) return std::nullopt;
  const absl::string_view all = path;
  for (size_t slash = all.find('/', 1); slash != absl::string_view::npos; slash = all.find('/', slash + 1)) {
    const auto found = registry.closed.find(all.substr(0, slash));
    if (found == registry.closed.end()) continue;
    const size_t begin = all.find_first_not_of('/', slash);
    if (begin == absl::string_view::npos) return std::nullopt;
    const absl::string_view below = all.substr(begin);
    const absl::string_view name = below.substr(0, below.find('/'));
    const bool is_shallow = found->second.count(absl::StrCat(name, "/*")) > 0;
    if (!is_shallow && found->second.count(name) == 0) continue;
    if (is_shallow && std::count(below.begin(), below.end(), '/') > 1) return std::nullopt;
    // Paths in closed folders are made from names; a user's own path with ".." means what the system makes of it.
    if (absl::StrContains(absl::StrCat("/", below, "/"), "/../")) return std::nullopt;
    return Place{found->first, std::string(below)};
  }
  return std::nullopt;
}

// Closes a descriptor and keeps errno.
void Close(int descriptor) {
  const int error = errno;
  close(descriptor);
  errno = error;
}

int OpenTop(const std::string& top) { return open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }

bool IsLink(int folder, const std::string& name) {
  struct stat info;
  return fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

}  // namespace

namespace closed_folder_internal {

int OpenBelow(int top, const std::string& path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  const auto file = static_cast<int>(syscall(SYS_openat2, top, path.c_str(), &how, sizeof(how)));
  // A sandbox may refuse calls that it doesn't know.
  if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
  return OpenBelowByWalking(top, path, flags, mode);
}

int OpenBelowByWalking(int top, const std::string& path, int flags, mode_t mode) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  int folder = top;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    int next = openat(folder, parts[i].c_str(),
                      is_last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, mode);
    const int error = errno;
    struct stat info;
    // O_PATH opens the link itself; O_DIRECTORY says only that it is no folder.
    const bool is_link = next >= 0 ? (flags & O_PATH) != 0 && fstat(next, &info) == 0 && S_ISLNK(info.st_mode)
                                   : error == ENOTDIR && IsLink(folder, parts[i]);
    if (folder != top) close(folder);
    if (is_link && next >= 0) close(std::exchange(next, -1));
    errno = is_link ? ELOOP : error;
    if (next < 0 || is_last) return next;
    folder = next;
  }
  errno = ENOENT;
  return -1;
}

}  // namespace closed_folder_internal

void CloseFolders(const std::string& top, absl::Span<const char* const> names) {
  std::string folder = top;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (folder.empty() || folder == "/") return;
  Registry& registry = TheRegistry();
  {
    const std::shared_lock<std::shared_mutex> lock(registry.mutex);
    if (registry.closed.count(folder) > 0) return;
  }
  const std::unique_lock<std::shared_mutex> lock(registry.mutex);
  registry.closed[folder].insert(names.begin(), names.end());
}

absl::Status CheckNoLink(const std::string& path) {
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value()) return absl::OkStatus();
  std::string here = place->top;
  for (const absl::string_view part : absl::StrSplit(place->below, '/', absl::SkipEmpty())) {
    absl::StrAppend(&here, "/", part);
    if (!IsLink(AT_FDCWD, here)) continue;
    return absl::PermissionDeniedError(absl::StrCat(here,
                                                    ": is a link; openset follows no link below a store's folder (",
                                                    place->top, "): put there what it points to, or remove it"));
  }
  return absl::OkStatus();
}

int OpenFile(const std::string& path, int flags, mode_t mode) {
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value()) return open(path.c_str(), flags, mode);
  const int top = OpenTop(place->top);
  if (top < 0) return -1;
  const int file = closed_folder_internal::OpenBelow(top, place->below, flags, mode);
  Close(top);
  return file;
}

int StatFile(const std::string& path, struct stat* info) {
  if (!PlaceOf(path).has_value()) return stat(path.c_str(), info);
  const int file = OpenFile(path, O_PATH | O_CLOEXEC);
  if (file < 0) return -1;
  const int result = fstat(file, info);
  Close(file);
  return result;
}

FolderOfPath::FolderOfPath(const std::string& path) : name_(path) {
  const std::optional<Place> place = PlaceOf(path);
  if (!place.has_value()) return;
  const size_t slash = place->below.find_last_of('/');
  if (slash == std::string::npos) {
    folder_ = OpenTop(place->top);
    name_ = place->below;
    return;
  }
  folder_ = OpenFile(absl::StrCat(place->top, "/", place->below.substr(0, slash)), O_PATH | O_DIRECTORY | O_CLOEXEC);
  name_ = place->below.substr(slash + 1);
}

FolderOfPath::~FolderOfPath() {
  if (folder_ >= 0) Close(folder_);
}

absl::Status ErrorAt(int error, absl::string_view what, const std::string& path) {
  if (error == ELOOP || error == ENOTDIR) {
    if (absl::Status link = CheckNoLink(path); !link.ok()) return link;
  }
  return ReadError(error, absl::StrCat("cannot ", what, " ", path));
}

namespace {

SystemCalls* Real() {
  static SystemCalls* const real = new SystemCalls;
  return real;
}

SystemCalls*& Current() {
  static SystemCalls* current = Real();
  return current;
}

}  // namespace

int SystemCalls::Open(const std::string& path, int flags, mode_t mode) { return OpenFile(path, flags, mode); }
ssize_t SystemCalls::Write(int fd, const char* bytes, size_t size) { return write(fd, bytes, size); }
int SystemCalls::Sync(int fd, SyncOf) { return fsync(fd); }
int SystemCalls::Close(int fd) { return close(fd); }
int SystemCalls::Link(const std::string& from, const std::string& to) {
  const FolderOfPath old(from), next(to);
  return old.ok() && next.ok() ? linkat(old.folder(), old.name(), next.folder(), next.name(), 0) : -1;
}
int SystemCalls::Rename(const std::string& from, const std::string& to) {
  const FolderOfPath old(from), next(to);
  return old.ok() && next.ok() ? renameat(old.folder(), old.name(), next.folder(), next.name()) : -1;
}
int SystemCalls::Unlink(const std::string& path) {
  const FolderOfPath folder(path);
  return folder.ok() ? unlinkat(folder.folder(), folder.name(), 0) : -1;
}
int SystemCalls::MakeFolder(const std::string& path, mode_t mode) {
  const FolderOfPath folder(path);
  return folder.ok() ? mkdirat(folder.folder(), folder.name(), mode) : -1;
}

SystemCalls& Calls() { return *Current(); }

ScopedSystemCalls::ScopedSystemCalls(SystemCalls* calls) : before_(Current()) { Current() = calls; }
ScopedSystemCalls::~ScopedSystemCalls() { Current() = before_; }

}  // namespace openset
