// Runs another program and captures its output.
#ifndef OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_
#define OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace openset {

struct CaptureLimits {
  absl::Duration time = absl::Minutes(2);
  // The limit for standard output, and for standard error. In the program, a write beyond it fails.
  int64_t bytes = int64_t{256} << 20;
};

// Runs `arguments[0]`, looked up in PATH unless it has a '/', with our environment and no input; returns its standard
// output. Errors: kNotFound if it can't be started; kDeadlineExceeded if it exceeds the time limit (it is killed);
// kResourceExhausted if it writes more than the limit; kAborted if it fails, with its exit code and standard error.
absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& arguments, const CaptureLimits& limits = {});

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_CAPTURE_OUTPUT_H_
