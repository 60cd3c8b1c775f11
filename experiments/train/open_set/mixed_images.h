// Mixtures of two images, as ImageMixSpec in open_set.proto says: Mixup (Zhang et al., ICLR 2018) and CutMix (Yun et
// al., ICCV 2019, train.py's rand_bbox).
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_MIXED_IMAGES_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_MIXED_IMAGES_H_

#include "core/random.h"
#include "core/tensor/torch.h"
#include "experiments/spec/open_set.pb.h"

namespace openset {

// The random numbers of a mixture.
struct ImageMixDraw {
  double share;  // of the first image, in [0, 1]
  // For CUTMIX, the window of pixels of the second image. Its share of the pixels is 1 - share.
  int64_t top = 0, bottom = 0, left = 0, right = 0;
};

// Draws for images of this size: the share and, for CUTMIX, the row and the column of the window's centre, in this
// order.
ImageMixDraw DrawImageMix(const ImageMixSpec& spec, int64_t height, int64_t width, RandomStream* random);

// A draw as numbers, and the draw of these numbers.
std::vector<double> NumbersOf(const ImageMixDraw& draw);
ImageMixDraw ImageMixDrawOf(const std::vector<double>& numbers);

// f32 [B, C, H, W], f32 [B, C, H, W] -> f32 [B, C, H, W], in the layout of `first`.
at::Tensor MixImages(const ImageMixSpec& spec, const ImageMixDraw& draw, const at::Tensor& first,
                     const at::Tensor& second);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_MIXED_IMAGES_H_
