// RandAugment (Cubuk et al. 2020) as in the code of Vaze et al. 2022 (data/augmentations/randaugment.py), which follows
// ildoonet/pytorch-randaugment: each image gets `ops` operations drawn with replacement, each always applied, all at
// one magnitude. The operations do what Pillow's do on 8-bit images, bit for bit.
#ifndef OPENSET_DATA_AUGMENT_RAND_AUGMENT_H_
#define OPENSET_DATA_AUGMENT_RAND_AUGMENT_H_

#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// With the range of the value, min to max. Values with +- are negated for half of the images.
enum class RandAugmentOp {
  kAutoContrast,
  kEqualize,
  kInvert,
  kRotate,       // +- 0 to 30 degrees
  kPosterize,    // 0 to 4 bits, rounded down, but at least 1
  kSolarize,     // 0 to 256: the threshold
  kSolarizeAdd,  // 0 to 110: what is added
  kColor,        // 0.1 to 1.9: the factor, for this and the next three
  kContrast,
  kBrightness,
  kSharpness,
  kShearX,      // +- 0 to 0.3
  kShearY,      // +- 0 to 0.3
  kCutout,      // 0 to 40 pixels
  kTranslateX,  // +- 0 to 100 pixels
  kTranslateY,  // +- 0 to 100 pixels
};

// The operations of a list, in the order of the released code.
const std::vector<RandAugmentOp>& RandAugmentOps(RandAugmentSpec::OpList list);

// magnitude / 30 * (max - min) + min, without a sign; 0 for the operations without a range.
double RandAugmentValue(RandAugmentOp op, double magnitude);

// One operation on one image.
struct RandAugmentDraw {
  RandAugmentOp op;
  double value = 0;
  // Of Cutout, in pixels; uniform on (1, W] and (1, H]. (The released code calls numpy.random.uniform(W), whose one
  // argument is the lower end and whose upper end is 1.)
  double centre_x = 0;
  double centre_y = 0;
};

// spec.ops() draws for each of `images` images of `height` x `width` pixels, one image after the other. A draw takes
// from `random` the operation, then its sign or its centre (x, y) if it has one.
std::vector<RandAugmentDraw> DrawRandAugment(const RandAugmentSpec& spec, int64_t images, int64_t height, int64_t width,
                                             RandomStream* random);

// Applies to each image of u8 [B, C, H, W], with C of 1 or 3, its draws one after the other. An image's result does not
// depend on the rest of the batch. Precondition: the same number n of draws for each image, B * n in all.
at::Tensor ApplyRandAugment(const at::Tensor& images, const std::vector<RandAugmentDraw>& draws);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RAND_AUGMENT_H_
