#include "core/files/system_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

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

int SystemCalls::Open(const std::string& path, int flags, mode_t mode) { return open(path.c_str(), flags, mode); }
ssize_t SystemCalls::Write(int fd, const char* bytes, size_t size) { return write(fd, bytes, size); }
int SystemCalls::Sync(int fd, SyncOf) { return fsync(fd); }
int SystemCalls::Close(int fd) { return close(fd); }
int SystemCalls::Link(const std::string& from, const std::string& to) { return link(from.c_str(), to.c_str()); }
int SystemCalls::Rename(const std::string& from, const std::string& to) { return rename(from.c_str(), to.c_str()); }
int SystemCalls::Unlink(const std::string& path) { return unlink(path.c_str()); }
int SystemCalls::MakeFolder(const std::string& path, mode_t mode) { return mkdir(path.c_str(), mode); }

SystemCalls& Calls() { return *Current(); }

ScopedSystemCalls::ScopedSystemCalls(SystemCalls* calls) : before_(Current()) { Current() = calls; }
ScopedSystemCalls::~ScopedSystemCalls() { Current() = before_; }

}  // namespace openset
