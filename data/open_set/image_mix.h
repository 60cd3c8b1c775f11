// Mixtures of two images, as ImageMixSpec in open_set.proto says: Mixup (Zhang et al., ICLR 2018) and CutMix (Yun et
// al., ICCV 2019, train.py's rand_bbox).
#ifndef OPENSET_DATA_OPEN_SET_IMAGE_MIX_H_
#define OPENSET_DATA_OPEN_SET_IMAGE_MIX_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/open_set/open_set.pb.h"

namespace openset {

struct MixedImages {
  at::Tensor image;  // [B, C, H, W], channels-last
  double share;      // of the first one, in [0, 1]
};

// Mixes f32 [B, C, H, W] with f32 [B, C, H, W]. Draws the share and, for CUTMIX, the row and the column of the window's
// centre, in this order.
MixedImages MixImages(const ImageMixSpec& spec, const at::Tensor& first, const at::Tensor& second,
                      RandomStream* random);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_IMAGE_MIX_H_
