// Distinguishes a full or missing disk from other failures.
#ifndef OPENSET_CORE_FILES_DISK_ERROR_H_
#define OPENSET_CORE_FILES_DISK_ERROR_H_

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/match.h"

namespace openset {

// Whether the system's reason in the message says that the disk can't be written to: full (ENOSPC), over quota
// (EDQUOT), gone (ESTALE, ENODEV, ENOTCONN), broken (EIO), or read-only (EROFS). Only the message is available for an
// error from another process.
inline bool IsDiskError(const absl::Status& status) {
  if (status.ok()) return false;
  for (const int error : {ENOSPC, EDQUOT, ESTALE, ENODEV, ENOTCONN, EIO, EROFS}) {
    if (absl::StrContains(status.message(), std::strerror(error))) return true;
  }
  return false;
}

}  // namespace openset

#endif  // OPENSET_CORE_FILES_DISK_ERROR_H_
