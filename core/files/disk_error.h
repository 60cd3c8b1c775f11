// What errors of the system mean for files.
#ifndef OPENSET_CORE_FILES_DISK_ERROR_H_
#define OPENSET_CORE_FILES_DISK_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace openset {

// Returns the status of a system call that failed with `error` (errno) when something was to be opened, looked at, read
// or listed. Its message is `message` and the system's reason. Only an entry that isn't there is absent, and only bytes
// that were read can be corrupt:
//   kNotFound: there is no such entry (ENOENT, ENOTDIR)
//   kPermissionDenied: EACCES, EPERM
//   kResourceExhausted: this process or machine has too many open files, or no memory (EMFILE, ENFILE, ENOMEM, EAGAIN)
//   kDataLoss: circular links (ELOOP)
//   kInvalidArgument: no file can have this name (ENAMETOOLONG)
//   kUnavailable: all others, such as EIO, ESTALE, ETIMEDOUT, ENOTCONN and EBUSY
absl::Status ReadError(int error, absl::string_view message);

// Whether the system's reason in the message says that the disk can't be written to: full (ENOSPC), over quota
// (EDQUOT), gone (ESTALE, ENODEV, ENOTCONN), broken (EIO), or read-only (EROFS). Only the message is available for an
// error from another process.
bool IsDiskError(const absl::Status& status);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DISK_ERROR_H_
