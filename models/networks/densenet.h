// Densely connected networks (Huang et al., CVPR 2017): DenseNet-121.
#ifndef OPENSET_MODELS_NETWORKS_DENSENET_H_
#define OPENSET_MODELS_NETWORKS_DENSENET_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Convolution 7x7 of stride 2 to 2 g channels (g = growth), batch norm, ReLU, maximum over 3x3 of stride 2; blocks of
// 6, 12, 24 and 16 layers, between them transitions; batch norm, ReLU, global average pooling. A layer adds g channels
// to those before it: norm, ReLU, convolution 1x1 to 4 g, norm, ReLU, convolution 3x3 to g. A transition is norm, ReLU,
// a convolution 1x1 to half the channels and the mean over 2x2. Convolutions have no bias. With the default growth of
// 32 and 3 input channels: D = 1024, 6,953,856 parameters. Convolutions start from N(0, 2 / inputs), batch norm from 1
// and 0, as in torchvision. Parameters are named as there: features.{conv0,norm0},
// features.denseblockB.denselayerL.{norm1,conv1,norm2,conv2}, features.transitionB.{norm,conv}, features.norm5. Images:
// at least kDensenetSmallestImage (models/image_limits.h).
std::shared_ptr<Backbone> MakeDensenet(const DensenetSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_DENSENET_H_
