// The 9-layer network for 32x32 images of Neal et al. 2018 (OSRCI), as used since ARPL under the name "classifier32".
#ifndef OPENSET_MODELS_NETWORKS_VGG32_H_
#define OPENSET_MODELS_NETWORKS_VGG32_H_

#include <memory>

#include "models/model.h"
#include "models/model.pb.h"

namespace openset {

// Three blocks of three 3x3 convolutions (padding 1, no bias), the last of each block with stride 2; batch norm and
// LeakyReLU(0.2) after each, Dropout2d before each block: the first one drops whole channels of the input image. The
// feature is the mean over positions. With the default width, for images of 32x32 (64x64):
//   dropout, 3 -> 64, 64, 128, stride 2: 16x16 (32x32)
//   dropout, 128 -> 128, 128, 128, stride 2: 8x8 (16x16)
//   dropout, 128 -> 128, 128, feature_dim, stride 2: 4x4 (8x8)
// Initialisation: convolutions N(0, 0.05), batch-norm weights N(1, 0.02) (standard deviations), batch-norm biases 0.
// Parameters: conv1.weight, bn1.weight, bn1.bias, ..., conv9.weight, bn9.weight, bn9.bias, as in the released
// checkpoints, whose bn10 is never used. Images may have any size; in training mode the last batch norm needs more than
// one value per channel, so B > 1 for images of up to 8x8.
// Source: wang22ti/OpenAUC models/classifier32.py.
std::shared_ptr<Backbone> MakeVgg32(const Vgg32Spec& spec, const InputSpec& input);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_VGG32_H_
