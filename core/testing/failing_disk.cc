// A disk that can't be read for a while: a library that lets system calls fail which open, look at, list or read files.
// Load it into any program, which needs no code for it:
//
//   LD_PRELOAD=$TEST_SRCDIR/openset/core/testing/failing_disk_preload.so
//     FAILING_DISK_PATH=/records/   part of the paths for which calls fail; without it, no call fails
//     FAILING_DISK_ERROR=EIO        the error, by its name (see kErrors below)
//     FAILING_DISK_CALLS=open,read  which calls; all by default: open (open, openat, openat2, fopen, opendir), read
//     (read,
//                                   pread), list (readdir), stat (stat, lstat, fstat, fstatat)
//     FAILING_DISK_AT=3             the first of these calls that fails, counted from 0 in each process; 0 by default
//     FAILING_DISK_TIMES=1          how many fail; all from there on by default
//     FAILING_DISK_LOG=FILE         where each such call adds a line "CALL PATH", whether it fails or not
//
// A test may also link :failing_disk and set the variables itself, with FailingDisk of core/testing/failing_disk.h.
#include "core/testing/failing_disk.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Named {
  const char* name;
  int error;
};
constexpr Named kErrors[] = {{"EACCES", EACCES}, {"EAGAIN", EAGAIN},     {"EBUSY", EBUSY},        {"EIO", EIO},
                             {"ELOOP", ELOOP},   {"EMFILE", EMFILE},     {"ENFILE", ENFILE},      {"ENOENT", ENOENT},
                             {"ENOMEM", ENOMEM}, {"ENOTCONN", ENOTCONN}, {"EPERM", EPERM},        {"ESTALE", ESTALE},
                             {"ENXIO", ENXIO},   {"ENOTDIR", ENOTDIR},   {"ETIMEDOUT", ETIMEDOUT}};

std::atomic<long> calls{0};  // that the variables mean

long NumberOr(const char* variable, long other) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? other : std::atol(text);
}

// Whether the name is in the list of FAILING_DISK_CALLS.
bool IsMeant(const char* call) {
  const char* const meant = std::getenv("FAILING_DISK_CALLS");
  return meant == nullptr || *meant == '\0' || std::strstr(meant, call) != nullptr;
}

// Returns whether this call fails, and then sets errno. `path` may be relative to `folder`, or null for `folder`
// itself.
bool Fails(const char* call, int folder, const char* path) {
  const char* const part = std::getenv("FAILING_DISK_PATH");
  if (part == nullptr || *part == '\0' || !IsMeant(call)) return false;
  const int before = errno;
  char whole[3 * PATH_MAX] = "";
  if (path == nullptr || (path[0] != '/' && folder != AT_FDCWD)) {
    char link[64];
    std::snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    const ssize_t size = readlink(link, whole, PATH_MAX);
    whole[size < 0 ? 0 : size] = '\0';
    if (path != nullptr && path[0] != '\0') std::strcat(whole, "/");
  }
  if (path != nullptr) std::strncat(whole, path, PATH_MAX);
  errno = before;
  if (std::strstr(whole, part) == nullptr) return false;
  if (const char* const log = std::getenv("FAILING_DISK_LOG")) {
    if (std::strcmp(log, whole) == 0) return false;
    char line[3 * PATH_MAX + 16];
    const int size = std::snprintf(line, sizeof(line), "%s %s\n", call, whole);
    const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0666));
    if (file >= 0) {
      if (write(file, line, size) != size) std::abort();
      close(file);
    }
    errno = before;
  }
  const long number = calls++, at = NumberOr("FAILING_DISK_AT", 0), times = NumberOr("FAILING_DISK_TIMES", -1);
  if (number < at || (times >= 0 && number >= at + times)) return false;
  const char* const wanted = std::getenv("FAILING_DISK_ERROR");
  for (const Named& known : kErrors) {
    if (wanted == nullptr || std::strcmp(wanted, known.name) != 0) continue;
    errno = known.error;
    return true;
  }
  return false;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int OpenAt(int folder, const char* path, int flags, mode_t mode) {
  if (Fails("open", folder, path)) return -1;
  return static_cast<int>(Next<long(long, ...)>("syscall")(SYS_openat, folder, path, flags, mode));
}

int StatAt(int folder, const char* path, struct stat* info, int flags) {
  if (Fails("stat", folder, path)) return -1;
  return static_cast<int>(Next<long(long, ...)>("syscall")(SYS_newfstatat, folder, path, info, flags));
}

}  // namespace

static_assert(sizeof(struct stat) == sizeof(struct stat64) && sizeof(dirent) == sizeof(dirent64));

namespace openset {

FailingDisk::FailingDisk(const std::string& path, const std::string& error, const std::string& calls, int at,
                         int times) {
  ::calls = 0;
  setenv("FAILING_DISK_ERROR", error.c_str(), 1);
  setenv("FAILING_DISK_CALLS", calls.c_str(), 1);
  setenv("FAILING_DISK_AT", std::to_string(at).c_str(), 1);
  setenv("FAILING_DISK_TIMES", std::to_string(times).c_str(), 1);
  setenv("FAILING_DISK_PATH", path.c_str(), 1);
}
FailingDisk::~FailingDisk() { unsetenv("FAILING_DISK_PATH"); }
int FailingDisk::calls() const { return static_cast<int>(::calls); }

}  // namespace openset

// Defines a function of the C library under another name for the compiler, because the library's headers may define it
// inline. Functions with a mode read it also without O_CREAT, which is harmless here.
#define OPENSET_REPLACE(NAME, RESULT, PARAMETERS)         \
  extern "C" RESULT Failing_##NAME PARAMETERS asm(#NAME); \
  RESULT Failing_##NAME PARAMETERS
#define OPENSET_OPEN(NAME) \
  OPENSET_REPLACE(NAME, int, (const char* path, int flags, mode_t mode)) { return OpenAt(AT_FDCWD, path, flags, mode); }
#define OPENSET_OPENAT(NAME)                                                           \
  OPENSET_REPLACE(NAME, int, (int folder, const char* path, int flags, mode_t mode)) { \
    return OpenAt(folder, path, flags, mode);                                          \
  }
#define OPENSET_FOPEN(NAME)                                                                                    \
  OPENSET_REPLACE(NAME, FILE*, (const char* path, const char* mode)) {                                         \
    return Fails("open", AT_FDCWD, path) ? nullptr : Next<FILE*(const char*, const char*)>(#NAME)(path, mode); \
  }
#define OPENSET_PREAD(NAME)                                                                                         \
  OPENSET_REPLACE(NAME, ssize_t, (int file, void* to, size_t size, off_t at)) {                                     \
    return Fails("read", file, nullptr) ? -1 : Next<ssize_t(int, void*, size_t, off_t)>(#NAME)(file, to, size, at); \
  }
#define OPENSET_READDIR(NAME)                                                                    \
  OPENSET_REPLACE(NAME, dirent*, (DIR * folder)) {                                               \
    return Fails("list", dirfd(folder), nullptr) ? nullptr : Next<dirent*(DIR*)>(#NAME)(folder); \
  }
#define OPENSET_STAT(NAME, FLAGS) \
  OPENSET_REPLACE(NAME, int, (const char* path, struct stat* info)) { return StatAt(AT_FDCWD, path, info, FLAGS); }
#define OPENSET_FSTAT(NAME) \
  OPENSET_REPLACE(NAME, int, (int file, struct stat* info)) { return StatAt(file, "", info, AT_EMPTY_PATH); }
#define OPENSET_FSTATAT(NAME)                                                                \
  OPENSET_REPLACE(NAME, int, (int folder, const char* path, struct stat* info, int flags)) { \
    return StatAt(folder, path, info, flags);                                                \
  }

OPENSET_OPEN(open)
OPENSET_OPEN(open64)
OPENSET_OPENAT(openat)
OPENSET_OPENAT(openat64)
OPENSET_REPLACE(__open_2, int, (const char* path, int flags)) { return OpenAt(AT_FDCWD, path, flags, 0); }
OPENSET_REPLACE(__open64_2, int, (const char* path, int flags)) { return OpenAt(AT_FDCWD, path, flags, 0); }
OPENSET_REPLACE(__openat_2, int, (int folder, const char* path, int flags)) { return OpenAt(folder, path, flags, 0); }
OPENSET_REPLACE(__openat64_2, int, (int folder, const char* path, int flags)) { return OpenAt(folder, path, flags, 0); }
OPENSET_FOPEN(fopen)
OPENSET_FOPEN(fopen64)
OPENSET_REPLACE(opendir, DIR*, (const char* path)) {
  const int folder = OpenAt(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  return folder < 0 ? nullptr : fdopendir(folder);
}
OPENSET_REPLACE(syscall, long, (long number, long a, long b, long c, long d, long e, long f)) {
  if (number == SYS_openat2 && Fails("open", static_cast<int>(a), reinterpret_cast<const char*>(b))) return -1;
  return Next<long(long, ...)>("syscall")(number, a, b, c, d, e, f);
}
OPENSET_REPLACE(read, ssize_t, (int file, void* to, size_t size)) {
  return Fails("read", file, nullptr) ? -1 : Next<ssize_t(int, void*, size_t)>("read")(file, to, size);
}
OPENSET_REPLACE(__read_chk, ssize_t, (int file, void* to, size_t size, size_t room)) {
  return Fails("read", file, nullptr) ? -1
                                      : Next<ssize_t(int, void*, size_t, size_t)>("__read_chk")(file, to, size, room);
}
OPENSET_PREAD(pread)
OPENSET_PREAD(pread64)
OPENSET_READDIR(readdir)
OPENSET_READDIR(readdir64)
OPENSET_STAT(stat, 0)
OPENSET_STAT(stat64, 0)
OPENSET_STAT(lstat, AT_SYMLINK_NOFOLLOW)
OPENSET_STAT(lstat64, AT_SYMLINK_NOFOLLOW)
OPENSET_FSTAT(fstat)
OPENSET_FSTAT(fstat64)
OPENSET_FSTATAT(fstatat)
OPENSET_FSTATAT(fstatat64)
