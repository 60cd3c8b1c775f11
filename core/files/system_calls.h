// The system calls by which files become durable. Everything in core/files/files.h that changes a disk goes through
// them, so that a test can put others in their place: calls that fail, or a disk that forgets what was not synced.
#ifndef OPENSET_CORE_FILES_SYSTEM_CALLS_H_
#define OPENSET_CORE_FILES_SYSTEM_CALLS_H_

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace openset {

// What a sync is for. Leaving out any one of them loses something in a power cut.
enum class SyncOf {
  kFile,          // the content of a file that is about to get its name
  kFileName,      // the folder that a file has got its name in
  kNewFolder,     // the folder that another one was made in
  kStagedFile,    // a file of a folder that is about to be moved to its place
  kStagedFolder,  // that folder: the names in it
  kMovedFolder,   // the folder that it was moved into
};
inline constexpr SyncOf kAllSyncs[] = {SyncOf::kFile,       SyncOf::kFileName,     SyncOf::kNewFolder,
                                       SyncOf::kStagedFile, SyncOf::kStagedFolder, SyncOf::kMovedFolder};

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
