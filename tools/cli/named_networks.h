// Networks that `openset score --network=NAME` knows, for files that hold weights only.
#ifndef OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_
#define OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/model.pb.h"

namespace openset {

struct NamedNetwork {
  ModelSpec model;  // with a linear head and no weights
  InputSpec input;  // as its weights are commonly trained; fields that vary are not set
};

// By its name in torchvision or timm (resnet50), or with "_cifar" behind it, for the form for small images that OpenOOD
// uses. Errors: kInvalidArgument with the nearest name, or all.
absl::StatusOr<NamedNetwork> FindNamedNetwork(const std::string& name);

// In the order of the table.
std::vector<std::string> NamedNetworks();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_
