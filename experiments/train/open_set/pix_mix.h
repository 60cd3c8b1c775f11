// PixMix (Hendrycks et al., CVPR 2022) as in the authors' code (andyzoujm/pixmix, cifar.py and pixmix_utils.py). An
// image x in [0, 1] is mixed up to `rounds` times with y, which is a picture of a mixing set or the image itself after
// a change:
//
//   add:       (a (2x - 1) + b (2y - 1) + 1) / 2,      multiply:  (2x)^a max(2y, 1e-37)^b / 2,     clipped to [0, 1],
//
// where (a, b) ~ (Beta(s, 1), Beta(1, s)) or (1 + Beta(1, s), -Beta(1, s)), each with probability 1/2, and s is the
// strength. Half of the images are changed first. A change is one of AugMix's operations (data/augment/aug_mix.h), on
// 8-bit images.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_PIX_MIX_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_PIX_MIX_H_

#include "core/random.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "data/augment/aug_mix.h"
#include "data/pipeline.h"
#include "experiments/spec/open_set.pb.h"

namespace openset {

struct PixMixRound {
  std::optional<AugMixStep> change;  // of the image itself, which then replaces the picture
  bool multiplies = false;
  double a = 1, b = 0;
};

// The random numbers of one image.
struct PixMixDraw {
  std::optional<AugMixStep> start;
  std::vector<PixMixRound> rounds;
};

// Draws for each of `images` images of `height` x `width` pixels, in order. For each image, draws from `random` whether
// it is changed first, and that change; the number of rounds; and for each round whether it mixes with the image
// itself, and that change, the operation, the kind of (a, b), a and b.
std::vector<PixMixDraw> DrawPixMix(const PixMixSpec& spec, int64_t images, int64_t height, int64_t width,
                                   RandomStream* random);

// Images and pictures u8 [B, C, H, W] -> f32 [B, C, H, W] in [0, 1]. Precondition: there are B draws.
at::Tensor ApplyPixMix(const at::Tensor& images, const at::Tensor& pictures, const std::vector<PixMixDraw>& draws);

// Open-set source: the images of the batch, each mixed with the picture at its position among those that `pictures`
// adds, which are repeated if there are fewer. The network sees the mixtures instead of the batch; slot is i, share 1
// and partner the image's own label. `format`: of the batches. Images are converted back to 8 bits before they are
// mixed.
std::unique_ptr<OpenSetSource> MakePixMixedImages(const PixMixSpec& spec, const InputFormat& format, at::Device device,
                                                  std::unique_ptr<OpenSetSource> pictures);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_PIX_MIX_H_
