// Running another program for what it prints.
#ifndef OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_
#define OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace openset {

// What `arguments[0]`, looked for in PATH unless it has a '/', writes to standard output, with our environment and
// without input. Errors: kNotFound if it can't be started; kDeadlineExceeded if it takes longer than `limit` (it is
// killed); kAborted if it fails, with its exit code and what it wrote to standard error.
absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& arguments,
                                          absl::Duration limit = absl::Minutes(2));

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_
