// How to start the worker, the program that trains.
#ifndef OPENSET_TOOLS_CLI_RUN_WORKER_PROGRAM_H_
#define OPENSET_TOOLS_CLI_RUN_WORKER_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace openset {

// Returns the command that starts `worker`. A build by Bazel contains LibTorch, so that the command is {worker}. The
// Python package doesn't: the file tools/torch_version of its `runfiles` says which PyTorch the worker is linked
// against, and the worker uses the libraries of the PyTorch that PythonProgram() has installed. Errors:
// kFailedPrecondition, with the command that installs it, if that Python has no PyTorch or one of another minor
// version; kNotFound if there is no Python.
absl::StatusOr<std::vector<std::string>> WorkerProgram(const std::string& worker, const std::string& runfiles);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_WORKER_PROGRAM_H_
