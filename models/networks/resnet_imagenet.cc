// Residual networks for images of 224x224 (He et al. 2016): ResNet-18, 34, 50, 101 and 152.
//
// Convolution 7x7 of stride 2 without bias, batch norm, ReLU, max pooling 3x3 of stride 2; 4 stages of blocks
// (models/networks/residual.h), the first block of each stage but the first with stride 2; global average pooling. With
// the default width and 3 input channels:
//
//               blocks        kind        channels of the stages   parameters
//   RESNET18    2, 2, 2, 2    basic       64, 128, 256, 512        11,176,512
//   RESNET34    3, 4, 6, 3    basic       64, 128, 256, 512        21,284,672
//   RESNET50    3, 4, 6, 3    bottleneck  256, 512, 1024, 2048     23,508,032
//   RESNET101   3, 4, 23, 3   bottleneck  256, 512, 1024, 2048     42,500,160
//   RESNET152   3, 8, 36, 3   bottleneck  256, 512, 1024, 2048     58,143,808
//
// The feature dimension D is the number of channels of the last stage.
// A bottleneck's 3x3 convolution has its stride, as in torchvision ("v1.5"), not the first 1x1 as in the paper. Dropout
// is per element: `block_dropout` after each inner ReLU of a block and before the sum, `feature_dropout` on the
// features, as in the code of the unified benchmark (models/networks/resnet_imagenet.py). Convolutions start from N(0,
// 2 / (outputs * kernel^2)), batch norm from 1 and 0. Parameters are named as in torchvision and timm: conv1, bn1,
// layerS.B.{conv1,bn1,...,conv3,bn3,downsample.0,downsample.1}.
#include "absl/status/statusor.h"
#include "models/networks/network_members.h"
#include "models/networks/residual.h"
#include "models/residual_shape.h"

namespace openset {

absl::StatusOr<std::shared_ptr<Backbone>> Make(const ResnetImagenetSpec& spec, const InputSpec& input) {
  return MakeResidualBackbone(ResidualShapeOf(spec), input.channels(), {spec.block_dropout(), spec.feature_dropout()});
}

}  // namespace openset
