#include "core/files/system_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "core/files/closed_folder.h"

namespace openset {
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
