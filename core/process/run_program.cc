#include "core/process/run_program.h"

#include <unistd.h>

#include "core/status_macros.h"

namespace openset {

absl::StatusOr<ProcessEnd> RunToEnd(const std::vector<std::string>& arguments, int64_t max_file_bytes) {
  SpawnOptions options;
  options.output = STDERR_FILENO;
  options.max_file_bytes = max_file_bytes;
  OPENSET_ASSIGN_OR_RETURN(const pid_t child, Spawn(arguments, options));
  return WaitForEnd(child);
}

absl::Status RunProgram(const std::vector<std::string>& arguments, int64_t max_file_bytes) {
  OPENSET_ASSIGN_OR_RETURN(const ProcessEnd end, RunToEnd(arguments, max_file_bytes));
  return end.ToStatus(arguments[0]);
}

}  // namespace openset
