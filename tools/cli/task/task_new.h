// `openset task new`.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_

#include <string>

#include "absl/status/status.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// Makes the task that the flags describe, writes its file, and prints the path.
absl::Status NewTask(const std::string& name, RunConfig config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_NEW_H_
