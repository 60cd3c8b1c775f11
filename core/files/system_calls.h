// The calls to the system for files: what their errors mean, and how no link is followed below a closed folder.
#ifndef OPENSET_CORE_FILES_SYSTEM_CALLS_H_
#define OPENSET_CORE_FILES_SYSTEM_CALLS_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace openset {

// ---- What errors of the system mean for files.

// Returns the status of a system call that failed with `error` (errno) when something was to be opened, looked at, read
// or listed. Its message is `message` and the system's reason. Only an entry that isn't there is absent, and only bytes
// that were read can be corrupt. Contracts call these codes "a read error"; its message names the path:
//   kNotFound: there is no such entry (ENOENT, ENOTDIR)
//   kPermissionDenied: EACCES, EPERM
//   kResourceExhausted: this process or machine has too many open files, or no memory (EMFILE, ENFILE, ENOMEM, EAGAIN)
//   kDataLoss: circular links (ELOOP); for code that reads a file, also a pipe, a socket or a device
//   kInvalidArgument: no file can have this name (ENAMETOOLONG); for code that reads a file, also a folder
//   kUnavailable: all others, such as EIO, ESTALE, ETIMEDOUT, ENOTCONN and EBUSY
absl::Status ReadError(int error, absl::string_view message);

// Whether the system's reason in the message says that the disk can't be written to: full (ENOSPC), over quota
// (EDQUOT), gone (ESTALE, ENODEV, ENOTCONN), broken (EIO), or read-only (EROFS). Only the message is available for an
// error from another process.
bool IsDiskError(const absl::Status& status);

// Folders below which no link is followed, because other users may write there. Opening, listing, writing, moving or
// removing something through a link would reach files outside of them that only this user may use.

// Closes the entries `names` of the folder `top` to links, from now on and in this process: all functions of core/files
// refuse a path that begins with `top`/NAME and has a link at or below NAME (ErrorAt()). "NAME/*" closes only the entry
// and what is directly in it. `top` itself, and folders above it, may be links. Links elsewhere in `top` are followed.
// Thread-safe.
void CloseFolders(const std::string& top, absl::Span<const char* const> names);

// Errors: kPermissionDenied, which names the link, if a closed folder or an entry below it on the way to `path`, or
// `path` itself, is a link. OK for paths elsewhere.
absl::Status CheckNoLink(const std::string& path);

// Like open(2) and stat(2), but fail with ELOOP for a path that CheckNoLink() refuses. Nobody can put a link there
// meanwhile.
int OpenFile(const std::string& path, int flags, mode_t mode = 0);
int StatFile(const std::string& path, struct stat* info);

// The folder of a path, for system calls that don't follow a link at the end of it (renameat(), unlinkat(), ...).
class FolderOfPath {
 public:
  explicit FolderOfPath(const std::string& path);
  ~FolderOfPath();
  FolderOfPath(const FolderOfPath&) = delete;
  FolderOfPath& operator=(const FolderOfPath&) = delete;

  // Otherwise errno says why; ELOOP: a link is on the path.
  bool ok() const { return folder_ != -1; }
  // A descriptor, or AT_FDCWD if the path is not below a closed folder, and the path from there.
  int folder() const { return folder_; }
  const char* name() const { return name_.c_str(); }

 private:
  int folder_ = AT_FDCWD;
  std::string name_;
};

// ReadError() for the message "cannot WHAT PATH"; the error of CheckNoLink() if a link is
// the reason.
absl::Status ErrorAt(int error, absl::string_view what, const std::string& path);

namespace closed_folder_internal {

// OpenFile() below the folder `top`, with openat2() or, as on Linux before 5.6, without it.
int OpenBelow(int top, const std::string& path, int flags, mode_t mode);
int OpenBelowByWalking(int top, const std::string& path, int flags, mode_t mode);

}  // namespace closed_folder_internal

// The system calls that make files durable. Everything in core/files/files.h that changes a disk uses them, so that a
// test can replace them with calls that fail, or with a disk that forgets what was not synced.

// What a sync is for. Each sync in the code has its own value. Without any one of them, a power cut loses something.
enum class SyncOf {
  kFile,          // the content of a new file, before it gets its name
  kWrittenFile,   // the same for a file that other code has written
  kLinkedName,    // the folder in which a file has got its name, by link
  kRenamedName,   // the same by rename
  kNewFolder,     // the parent of a new folder
  kFoundFolder,   // the parent of a folder that another process has made
  kStagedFile,    // a file in a folder that will be moved to its final path
  kStagedFolder,  // the names in that folder
  kMovedFolder,   // the folder that it was moved into
};
inline constexpr SyncOf kAllSyncs[] = {SyncOf::kFile,        SyncOf::kWrittenFile,  SyncOf::kLinkedName,
                                       SyncOf::kRenamedName, SyncOf::kNewFolder,    SyncOf::kFoundFolder,
                                       SyncOf::kStagedFile,  SyncOf::kStagedFolder, SyncOf::kMovedFolder};

// Each makes the system call of its name, and returns -1 and sets errno if it fails: ELOOP if the path has a link below
// a closed folder.
class SystemCalls {
 public:
  virtual ~SystemCalls() = default;

  virtual int Open(const std::string& path, int flags, mode_t mode);
  virtual ssize_t Write(int fd, const char* bytes, size_t size);
  virtual int Sync(int fd, SyncOf what);
  virtual int Close(int fd);
  virtual int Link(const std::string& from, const std::string& to);
  virtual int Rename(const std::string& from, const std::string& to);
  virtual int Unlink(const std::string& path);
  virtual int MakeFolder(const std::string& path, mode_t mode);
};

// The calls that this process uses.
SystemCalls& Calls();

// Repeats a call while signals interrupt it, up to a limit.
template <typename Call>
auto RetryInterrupted(const Call& call) {
  constexpr int kMostTimes = 1000;
  auto result = call();
  for (int i = 0; i < kMostTimes && result < 0 && errno == EINTR; ++i) result = call();
  return result;
}

// Replaces this process's calls with `calls` during its lifetime. For tests, while no other thread uses them.
class ScopedSystemCalls {
 public:
  explicit ScopedSystemCalls(SystemCalls* calls);
  ~ScopedSystemCalls();
  ScopedSystemCalls(const ScopedSystemCalls&) = delete;
  ScopedSystemCalls& operator=(const ScopedSystemCalls&) = delete;

 private:
  SystemCalls* const before_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_SYSTEM_CALLS_H_
