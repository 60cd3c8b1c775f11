// Densely connected networks (Huang et al., CVPR 2017): DenseNet-121.
#ifndef OPENSET_MODELS_NETWORKS_DENSENET_H_
#define OPENSET_MODELS_NETWORKS_DENSENET_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Convolution 7x7 of stride 2 to 2 g channels (g = growth), batch norm, ReLU, max pooling 3x3 of stride 2; blocks of 6,
// 12, 24 and 16 layers with transitions between them; batch norm, ReLU, global average pooling. A layer appends g
// channels to its input: norm, ReLU, convolution 1x1 to 4 g, norm, ReLU, convolution 3x3 to g. A transition is norm,
// ReLU, convolution 1x1 to half the channels, average pooling 2x2. Convolutions have no bias. With the default growth
// of 32 and 3 input channels: D = 1024, 6,953,856 parameters. Convolutions start from N(0, 2 / inputs), batch norm from
// 1 and 0, as in torchvision. Parameters have torchvision's names: features.{conv0,norm0},
// features.denseblockB.denselayerL.{norm1,conv1,norm2,conv2}, features.transitionB.{norm,conv}, features.norm5. Images
// have at least kDensenetSmallestImage pixels a side (models/network_traits.h).
std::shared_ptr<Backbone> MakeDensenet(const DensenetSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_DENSENET_H_
