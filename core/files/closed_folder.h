// Folders below which no link is followed, because other users may write there. Opening, listing, writing, moving or
// removing something through a link would reach files outside of them that only this user may use.
#ifndef OPENSET_CORE_FILES_CLOSED_FOLDER_H_
#define OPENSET_CORE_FILES_CLOSED_FOLDER_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace openset {

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

  // Otherwise errno says why; ELOOP for a link, as above.
  bool ok() const { return folder_ != -1; }
  // A descriptor, or AT_FDCWD if the path is not below a closed folder, and the path from there.
  int folder() const { return folder_; }
  const char* name() const { return name_.c_str(); }

 private:
  int folder_ = AT_FDCWD;
  std::string name_;
};

// ReadError() (core/files/disk_error.h) for the message "cannot WHAT PATH"; the error of CheckNoLink() if a link is the
// reason.
absl::Status ErrorAt(int error, absl::string_view what, const std::string& path);

namespace closed_folder_internal {
// OpenFile() below the folder `top`, with openat2() or, as on Linux before 5.6, without it.
int OpenBelow(int top, const std::string& path, int flags, mode_t mode);
int OpenBelowByWalking(int top, const std::string& path, int flags, mode_t mode);
}  // namespace closed_folder_internal

}  // namespace openset

#endif  // OPENSET_CORE_FILES_CLOSED_FOLDER_H_
