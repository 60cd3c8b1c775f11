// AugMix (Hendrycks et al. 2020) as in the authors' code (google-research/augmix, augmentations.py and cifar.py): an
// image is mixed with the results of chains of operations, (1 - m) x + m sum_i w_i chain_i(x). The operations are those
// of Pillow on 8-bit images, bit for bit.
//
// Differences: that code mixes normalised images in f32 and leaves the mixture unrounded. Here, the mixture is rounded
// once to 8 bits (halves up), so that it passes the pipeline like any image, or stays unrounded with rounding NONE. The
// coefficients 1 - m and m w_i are multiples of 2^-20 that sum to exactly 1, so that the mixture is exact and the same
// on every device.
#ifndef OPENSET_DATA_AUGMENT_AUG_MIX_H_
#define OPENSET_DATA_AUGMENT_AUG_MIX_H_

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/pixels/pixel_size.h"

namespace openset {

// In the order of the released code, with the value at level l (0 to 10); whole() truncates. Values with +- are negated
// for half of the images; these operations interpolate bilinearly.
enum class AugMixOp {
  kAutoContrast,
  kEqualize,
  kPosterize,   // 4 - whole(0.4 l) bits, but at least 1
  kRotate,      // +- whole(3 l) degrees
  kSolarize,    // 256 - whole(25.6 l): the threshold
  kShearX,      // +- 0.03 l
  kShearY,      // +- 0.03 l
  kTranslateX,  // +- whole(W l / 30) pixels
  kTranslateY,  // +- whole(H l / 30) pixels
};

// Without a sign; 0 for the operations without a value.
double AugMixValue(AugMixOp op, double level, int64_t height, int64_t width);

struct AugMixStep {
  AugMixOp op;
  double value = 0;
};

// Draws an operation, its level from U(0.1, severity) and its sign, if it has them.
AugMixStep DrawAugMixStep(double severity, int64_t height, int64_t width, RandomStream* random);

struct AugMixChain {
  int64_t coefficient = 0;  // m w_i in units of 2^-20, rounded down
  std::vector<AugMixStep> steps;
};

// The chains of one image. The coefficient of the image itself is 2^20 minus the sum of theirs.
using AugMixDraw = std::vector<AugMixChain>;

// Draws for each of `images` images of `height` x `width` pixels, from `random`, in this order: the weights (gamma
// variates, divided by their sum); m; then, for each chain, its depth (unless it is fixed) and, for each of its steps,
// the operation with its level and sign (if it has them).
std::vector<AugMixDraw> DrawAugMix(const AugMixSpec& spec, int64_t images, int64_t height, int64_t width,
                                   RandomStream* random);

// Applies to each image of u8 [B, C, H, W] its draw. An image's result does not depend on the rest of the batch.
// Unrounded mixtures are f32 in [0, 255], the nearest to the exact ones, which are multiples of 2^-20. Precondition: B
// draws with the same number of chains.
at::Tensor ApplyAugMix(const at::Tensor& images, const std::vector<AugMixDraw>& draws, bool rounded = true);

// The same in two steps. StageAugMix() adds the draws for images of `size` to `staging`; ApplyStagedAugMix() takes them
// from it, on the images' device.
void StageAugMix(const std::vector<AugMixDraw>& draws, PixelSize size, Staging* staging);
at::Tensor ApplyStagedAugMix(const at::Tensor& images, Staging* staging, bool rounded = true);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_AUG_MIX_H_
