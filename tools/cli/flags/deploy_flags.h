// Where and how work runs: --deploy=FILE, a DeploySpec as text, and the flags that override it.
#ifndef OPENSET_TOOLS_CLI_FLAGS_DEPLOY_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_DEPLOY_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "core/proto/text_proto.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/store/store.h"
#include "tools/cli/devices/devices.h"

ABSL_DECLARE_FLAG(std::optional<std::string>, deploy);
ABSL_DECLARE_FLAG(std::optional<std::string>, store);
ABSL_DECLARE_FLAG(std::optional<std::string>, data);
ABSL_DECLARE_FLAG(std::optional<std::string>, devices);
ABSL_DECLARE_FLAG(std::optional<std::string>, engine);
ABSL_DECLARE_FLAG(std::optional<std::string>, worker);
ABSL_DECLARE_FLAG(std::optional<int>, jobs);
ABSL_DECLARE_FLAG(std::optional<int64_t>, memory_per_slot);
ABSL_DECLARE_FLAG(std::optional<int>, retries);
ABSL_DECLARE_FLAG(std::optional<int>, max_failures);
ABSL_DECLARE_FLAG(std::optional<bool>, keep_going);
ABSL_DECLARE_FLAG(std::optional<bool>, private);

namespace openset {

struct Deployment {
  DeploySpec spec;                   // defaults are explicit, paths absolute; without `worker`, this program's own
  std::optional<TextSource> source;  // of the file, if one was given
  std::vector<std::string> flags;    // the flags that set a field

  // Where a field was set: "--jobs", "FILE:LINE: jobs".
  std::string Where(const std::string& field) const;
};

// The values of --engine, from DeploySpec.Engine: "local", "slurm".
std::vector<std::string> EngineNames();

// Flags override the file, and the file overrides the defaults.
// Errors: kNotFound if there is no such file; kInvalidArgument with the flag, or the file and line, and the field.
absl::StatusOr<Deployment> DeploymentFromFlags();

// What a command does with the store. Commands that make results (`run`, `score` and `records merge`) may create it,
// also in a folder that contains other files. All others create nothing and refuse a folder that is not a store.
enum class StoreUse { kRead, kMayMake };

// Returns the deployment's store. With `private`, only the user can read what this process writes from now on. With
// kRead, the store may be missing or its folder empty. Errors: those of Store::CheckVersion(); with kRead those of
// Store::CheckIsStore(); kFailedPrecondition if the store is to be private and others can read it.
absl::StatusOr<Store> StoreFromFlags(StoreUse use);

// Returns the deployment's data folders, then the one in the program's runfiles, then the user's own (see the help of
// --data).
absl::StatusOr<std::vector<std::string>> DataFoldersFromFlags();

// The deployment's devices. Errors: as ChooseDevices.
absl::StatusOr<Devices> DevicesFromFlags();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_DEPLOY_FLAGS_H_
