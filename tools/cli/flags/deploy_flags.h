// Where and how work runs: --deploy=FILE, a DeploySpec as text, and the flags that are laid over it.
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
  DeploySpec spec;                   // defaults are explicit, paths absolute; no `worker`: the one of this program
  std::optional<TextSource> source;  // of the file, if one was given
  std::vector<std::string> flags;    // fields that a flag has set, by the flag's name

  // Where a field was set: "--jobs", "FILE:LINE: jobs".
  std::string Where(const std::string& field) const;
};

// A flag that is given wins over the file, and the file over the defaults.
// Errors: kNotFound if there is no such file; kInvalidArgument with the flag, or the file and line, and the field.
absl::StatusOr<Deployment> DeploymentFromFlags();

// What a command does with the store. One that makes results may make it, also in a folder that has other things in it:
// `run`, `score` and `records merge`. Any other makes nothing, and refuses a folder that is no store.
enum class StoreUse { kRead, kMayMake };

// The deployment's store; with `private`, what this process makes from now on is its user's alone. With kRead one that
// is not there yet, or whose folder is empty, is fine. Errors: those of Store::CheckVersion(); with kRead those of
// Store::CheckIsStore(); kFailedPrecondition for a private one that others may look into.
absl::StatusOr<Store> StoreFromFlags(StoreUse use);

// The deployment's data folders, then the one in the program's runfiles, then the user's own (see the help of --data).
absl::StatusOr<std::vector<std::string>> DataFoldersFromFlags();

// The deployment's devices. Errors: as ChooseDevices.
absl::StatusOr<Devices> DevicesFromFlags();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_DEPLOY_FLAGS_H_
