// Networks that `openset score --network=NAME` knows, for files that contain only weights.
#ifndef OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_
#define OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/model.pb.h"

namespace openset {

struct NamedNetwork {
  ModelSpec model;  // with a linear head and no weights
  InputSpec input;  // the usual input for its weights; fields that vary are not set
};

// Finds a network by its name in torchvision or timm (resnet50). With the ending "_cifar", it is OpenOOD's form for
// small images. Errors: kInvalidArgument with the nearest name, or all.
absl::StatusOr<NamedNetwork> FindNamedNetwork(const std::string& name);

// In the order of the table.
std::vector<std::string> NamedNetworks();

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_NAMED_NETWORKS_H_
