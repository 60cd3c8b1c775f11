// Wide residual networks for images of 32x32 (Zagoruyko and Komodakis, BMVC 2016): WRN-28-10 and WRN-40-2.
#ifndef OPENSET_MODELS_NETWORKS_WIDE_RESNET_H_
#define OPENSET_MODELS_NETWORKS_WIDE_RESNET_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Convolution 3x3 to 16 channels; 3 stages of n blocks with 16 k, 32 k and 64 k channels (n = blocks, k = widening:
// WRN-(6 n + 4)-k); batch norm, ReLU, global average pooling (D = 64 k). A block is x +
// conv2(dropout(relu(norm2(conv1(relu(norm1(x))))))), all convolutions 3x3 and without bias; the first of each stage
// but the first has stride 2. If a block changes the number of channels, its shortcut is a 1x1 convolution of
// relu(norm1(x)). With 3 input channels, WRN-28-10 (4, 10) has 36,472,784 parameters and WRN-40-2 (6, 2) has 2,242,256.
// Convolutions start from N(0, 2 / (outputs * kernel^2)), batch norm from 1 and 0. Parameters are named as in the
// PyTorch code that Outlier Exposure and pytorch-ood use: conv1, blockS.layer.B.{bn1,conv1,bn2,conv2,convShortcut},
// bn1.
std::shared_ptr<Backbone> MakeWideResnet(const WideResnetSpec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_WIDE_RESNET_H_
