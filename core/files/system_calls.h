// The system calls that make files durable. Everything in core/files/files.h that changes a disk uses them, so that a
// test can replace them with calls that fail, or with a disk that forgets what was not synced.
#ifndef OPENSET_CORE_FILES_SYSTEM_CALLS_H_
#define OPENSET_CORE_FILES_SYSTEM_CALLS_H_

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace openset {

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
// a closed folder (core/files/closed_folder.h).
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
