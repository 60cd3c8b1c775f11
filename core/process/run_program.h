// Running another program to its end.
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

// Runs `arguments[0]`, looked for in PATH unless it has a '/', with our environment, standard error and process group
// (Ctrl-C reaches it too); standard input is empty, standard output goes to standard error. It is killed if this
// process or the thread that waits for it ends. No file that it writes gets more than `max_file_bytes`: writing more is
// an error there (EFBIG). Errors: kNotFound if it can't be started.
absl::StatusOr<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments,
                                    int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

// The same, and kAborted "NAME exited with 3", "NAME was killed by signal 2 (Interrupt)".
absl::Status RunProgram(const std::vector<std::string>& arguments,
                        int64_t max_file_bytes = std::numeric_limits<int64_t>::max());

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_RUN_PROGRAM_H_
