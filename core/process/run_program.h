// Runs another program and waits for its end.
#ifndef OPENSET_CORE_PROCESS_RUN_PROGRAM_H_
#define OPENSET_CORE_PROCESS_RUN_PROGRAM_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/spawn.h"

namespace openset {

// Runs `arguments[0]`, looked up in PATH unless it has a '/', with our environment, standard error and process group
// (Ctrl-C reaches it too); standard input is empty, standard output goes to standard error. It is killed if this
// process or the thread that waits for it ends. In the program, writing more than `max_file_bytes` to a file fails
// (EFBIG). Errors: kNotFound if it can't be started.
absl::StatusOr<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments,
                                    int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

// The same, but also returns kAborted if the program fails: "NAME exited with 3", "NAME was killed by signal 2
// (Interrupt)".
absl::Status RunProgram(const std::vector<std::string>& arguments,
                        int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_RUN_PROGRAM_H_
