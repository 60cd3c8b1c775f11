// The system calls by which files become durable. Everything in core/files/files.h that changes a disk goes through
// them, so that a test can put others in their place: calls that fail, or a disk that forgets what was not synced.
#ifndef OPENSET_CORE_FILES_SYSTEM_CALLS_H_
#define OPENSET_CORE_FILES_SYSTEM_CALLS_H_

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace openset {

// What a sync is for: each place in the code that syncs has its own. Leaving out any one of them loses something in a
// power cut.
enum class SyncOf {
  kFile,          // the content of a new file that is about to get its name
  kWrittenFile,   // the same of a file that something else has written
  kLinkedName,    // the folder that a file has got its name in, by link
  kRenamedName,   // the same by rename
  kNewFolder,     // the folder that another one was made in
  kFoundFolder,   // the folder that another process made another one in
  kStagedFile,    // a file of a folder that is about to be moved to its place
  kStagedFolder,  // that folder: the names in it
  kMovedFolder,   // the folder that it was moved into
};
inline constexpr SyncOf kAllSyncs[] = {SyncOf::kFile,        SyncOf::kWrittenFile,  SyncOf::kLinkedName,
                                       SyncOf::kRenamedName, SyncOf::kNewFolder,    SyncOf::kFoundFolder,
                                       SyncOf::kStagedFile,  SyncOf::kStagedFolder, SyncOf::kMovedFolder};

// Each does what the system call of its name does: -1 and errno where it fails.
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

// Those of this process.
SystemCalls& Calls();

// A call that signals may interrupt, until it was not; though not for ever.
template <typename Call>
auto RetryInterrupted(const Call& call) {
  constexpr int kMostTimes = 1000;
  auto result = call();
  for (int i = 0; i < kMostTimes && result < 0 && errno == EINTR; ++i) result = call();
  return result;
}

// Puts `calls` in their place while it lives. For tests, and not while other threads use them.
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
