// The small network of the class-imbalance paper (w4k2/torchosr v0.1.6 architectures.py, osrci_lower_stack).
#ifndef OPENSET_MODELS_NETWORKS_OSRCI_CNN_H_
#define OPENSET_MODELS_NETWORKS_OSRCI_CNN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// For images of 32x32; convolutions without padding, all layers with bias and PyTorch's default initialisation:
//   convolution 5x5 -> 10 channels, max pooling 2x2, ReLU: 14x14
//   convolution 5x5 -> 20 channels, Dropout2d, max pooling 2x2, ReLU: 5x5
//   flattened (500) -> linear -> feature_dim, ReLU
// Parameters: conv1, conv2 and fc, each .weight and .bias.
// Errors: kInvalidArgument for images below 16x16, of which the second pooling would leave nothing.
absl::StatusOr<std::shared_ptr<Backbone>> MakeOsrciCnn(const OsrciCnnSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_OSRCI_CNN_H_
