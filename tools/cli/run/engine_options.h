// The local engine's options, from flags and a deployment, and the worker program that it starts.
#ifndef OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_
#define OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/local_engine.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// ---- How to start the worker, the program that trains.

// Returns the command that starts `worker`. A build by Bazel contains LibTorch, so that the command is {worker}. The
// Python package doesn't: the first line of the file tools/torch_version of its `runfiles` says which PyTorch the
// worker is linked against, further lines with which other minor versions it was tested, and the worker uses the
// libraries of the PyTorch that PythonProgram() has installed. With another version than the first, `worker --check` is
// run first. Errors: kFailedPrecondition, with the command that installs it, if that Python has no PyTorch or a version
// that the file lacks, or if that check fails; kNotFound if there is no Python.
absl::StatusOr<std::vector<std::string>> WorkerProgram(const std::string& worker, const std::string& runfiles);

// ---- Options of the local engine for a deployment.

// Returns the number of CPU slots for actions: the deployment's jobs, or the number of CPUs that this process may use.
int CpuSlots(const DeploySpec& deploy);

// `catalog_folders` are for the workers. Unless `with_trainer`, the worker with LibTorch is neither looked for nor set,
// and no action that needs it may be started. Errors: kInvalidArgument for devices that this machine lacks; kNotFound
// if the worker's program, or the Python that it needs, is not there; kFailedPrecondition without its PyTorch.
absl::StatusOr<LocalEngineOptions> EngineOptions(const RunConfig& config,
                                                 const std::vector<std::string>& catalog_folders,
                                                 bool with_trainer = true);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_
