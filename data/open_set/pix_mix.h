// PixMix (Hendrycks et al., CVPR 2022) as in the authors' code (andyzoujm/pixmix, cifar.py and pixmix_utils.py): an
// image x in [0, 1] is mixed up to `rounds` times with a picture of a mixing set or with itself changed, y, by
//
//   add:       (a (2x - 1) + b (2y - 1) + 1) / 2,      multiply:  (2x)^a max(2y, 1e-37)^b / 2,     clipped to [0, 1],
//
// where (a, b) ~ (Beta(s, 1), Beta(1, s)) or (1 + Beta(1, s), -Beta(1, s)), each for half of the rounds, s the
// strength. Half of the images start changed. A change is one of AugMix's operations (data/augment/aug_mix.h), on 8-bit
// images.
#ifndef OPENSET_DATA_OPEN_SET_PIX_MIX_H_
#define OPENSET_DATA_OPEN_SET_PIX_MIX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/random.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "data/augment/aug_mix.h"
#include "data/open_set/open_set.pb.h"
#include "data/pipeline.h"

namespace openset {

struct PixMixRound {
  std::optional<AugMixStep> change;  // of the image itself, in the place of the picture
  bool multiplies = false;
  double a = 1, b = 0;
};

// Of one image.
struct PixMixDraw {
  std::optional<AugMixStep> start;
  std::vector<PixMixRound> rounds;
};

// Draws for each of `images` images of `height` x `width` pixels, in their order. A draw takes from `random` whether
// the image starts changed, with the change, the number of rounds, and for each round whether it is with the image
// itself, with the change, the operation, which kind of (a, b), a and b.
std::vector<PixMixDraw> DrawPixMix(const PixMixSpec& spec, int64_t images, int64_t height, int64_t width,
                                   RandomStream* random);

// Images and pictures u8 [B, C, H, W] -> f32 [B, C, H, W] in [0, 1]. Precondition: B draws.
at::Tensor ApplyPixMix(const at::Tensor& images, const at::Tensor& pictures, const std::vector<PixMixDraw>& draws);

// Open-set source: the images of the batch, each mixed with the picture at its place among those that `pictures` adds,
// which begin anew if there are fewer. The network sees them in the place of the batch; slot is i, share 1 and partner
// the image's own label. `format` is that of the batches. The images' values are taken back to 8 bits before they are
// mixed.
std::unique_ptr<OpenSetSource> MakePixMixedImages(const PixMixSpec& spec, const InputFormat& format, at::Device device,
                                                  std::unique_ptr<OpenSetSource> pictures);

}  // namespace openset

#endif  // OPENSET_DATA_OPEN_SET_PIX_MIX_H_
