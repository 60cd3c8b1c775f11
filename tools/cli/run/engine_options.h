// Options of the local engine for a deployment.
#ifndef OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_
#define OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/local_engine.h"

namespace openset {

// Returns the number of CPU slots for actions: the deployment's jobs, or the number of CPUs that this process may use.
int CpuSlots(const DeploySpec& deploy);

// `catalog_folders` are for the workers. Errors: kNotFound if the worker's program is not there; those of the flags.
absl::StatusOr<LocalEngineOptions> EngineOptions(const DeploySpec& deploy,
                                                 const std::vector<std::string>& catalog_folders);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_ENGINE_OPTIONS_H_
