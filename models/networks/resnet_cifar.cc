// Residual networks for images of 32x32 (He et al. 2016): ResNet-20 and ResNet-18 with basic blocks.
//
// Convolution 3x3 without bias, batch norm, ReLU; stages of basic blocks; global average pooling.
//   RESNET20: 3 stages of 3 blocks with 16, 32, 64 channels (D = 64, 270,256 convolution weights with 3 input channels)
//   RESNET18: 4 stages of 2 blocks with 64, 128, 256, 512 channels (D = 512)
// A block is relu(norm2(conv2(dropout(relu(norm1(conv1(x)))))) (+ dropout) + shortcut(x)); the first block of each
// stage but the first has stride 2. If the shape changes, the shortcut is a 1x1 convolution with batch norm. Dropout is
// per element: `block_dropout` after the ReLU and before the sum, `feature_dropout` on the features, as in the code of
// the unified benchmark (models/networks/resnet_cifar.py). Convolutions start from N(0, 2 / (9 * outputs)) (1x1: 2 /
// outputs), batch norm from 1 and 0. Parameters are named as in torchvision: conv1, bn1,
// layerS.B.{conv1,bn1,conv2,bn2,downsample.0,downsample.1}.
#include "absl/status/statusor.h"
#include "models/networks/network_members.h"
#include "models/networks/residual.h"
#include "models/residual_shape.h"

namespace openset {

absl::StatusOr<std::shared_ptr<Backbone>> Make(const ResnetCifarSpec& spec, const InputSpec& input) {
  return MakeResidualBackbone(ResidualShapeOf(spec), input.channels(), {spec.block_dropout(), spec.feature_dropout()});
}

}  // namespace openset
