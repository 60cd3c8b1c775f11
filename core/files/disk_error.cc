#include "core/files/disk_error.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace openset {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return absl::StatusCode::kResourceExhausted;
    case ELOOP:
      return absl::StatusCode::kDataLoss;
    case ENAMETOOLONG:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

}  // namespace

absl::Status ReadError(int error, absl::string_view message) {
  return absl::Status(CodeOf(error), absl::StrCat(message, ": ", std::strerror(error)));
}

bool IsDiskError(const absl::Status& status) {
  if (status.ok()) return false;
  for (const int error : {ENOSPC, EDQUOT, ESTALE, ENODEV, ENOTCONN, EIO, EROFS}) {
    if (absl::StrContains(status.message(), std::strerror(error))) return true;
  }
  return false;
}

}  // namespace openset
