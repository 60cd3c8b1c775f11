// Residual networks for images of 224x224 (He et al. 2016): ResNet-50 and ResNet-152 with bottleneck blocks.
#ifndef OPENSET_MODELS_NETWORKS_RESNET_IMAGENET_H_
#define OPENSET_MODELS_NETWORKS_RESNET_IMAGENET_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Convolution 7x7 of stride 2 without bias, batch norm, ReLU, maximum over 3x3 of stride 2; 4 stages of bottleneck
// blocks with 256, 512, 1024, 2048 channels (models/networks/residual.h), the first block of each stage but the first
// with stride 2; global average pooling: D = 2048.
//   RESNET50:  3, 4, 6, 3 blocks; 23,508,032 parameters with 3 input channels
//   RESNET152: 3, 8, 36, 3 blocks; 58,143,808 parameters
// The stride is that of the 3x3 convolution, as in torchvision ("v1.5"), not of the first 1x1 as in the paper. Dropout
// is per element: `block_dropout` behind each inner ReLU of a block and before the sum, `feature_dropout` on the
// features, as the code of the unified benchmark places it (models/networks/resnet_imagenet.py). Convolutions start
// from N(0, 2 / (outputs * kernel^2)), batch norm from 1 and 0. Parameters are named as in torchvision and timm: conv1,
// bn1, layerS.B.{conv1,bn1,...,conv3,bn3,downsample.0,downsample.1}.
std::shared_ptr<Backbone> MakeResnetImagenet(const ResnetImagenetSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_RESNET_IMAGENET_H_
