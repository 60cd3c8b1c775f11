// Running another program to its end.
#ifndef OPENSET_CORE_PROCESS_RUN_PROGRAM_H_
#define OPENSET_CORE_PROCESS_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace openset {

// Runs `arguments[0]`, looked for in PATH unless it has a '/', with our environment, standard error and process group
// (Ctrl-C reaches it too); standard input is empty, standard output goes to standard error. Errors: kNotFound if it
// can't be started; kAborted "NAME exited with 3", "NAME was killed by signal 2 (Interrupt)".
absl::Status RunProgram(const std::vector<std::string>& arguments);

}  // namespace openset

#endif  // OPENSET_CORE_PROCESS_RUN_PROGRAM_H_
