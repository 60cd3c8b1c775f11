// Exit codes of programs: 0 ok, 1 failed, 2 bad usage or input, 130 stopped by a signal.
#ifndef OPENSET_CORE_PROCESS_EXIT_CODE_H_
#define OPENSET_CORE_PROCESS_EXIT_CODE_H_

#include "absl/status/status.h"

namespace openset {

inline int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kCancelled:
      return 130;
    // User input: arguments, files and their content.
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return 2;
    default:
      return 1;
  }
}

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_EXIT_CODE_H_
