// Operations that map each value of an image by itself, bit for bit as Pillow's ImageOps on 8-bit images.
//
// Images are u8 [B, C, H, W], on any device; a value per image (B of them) where an operation has a parameter.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_POINT_OPS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_POINT_OPS_H_

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

// 255 - p.
at::Tensor Invert(const at::Tensor& images);

// Keeps the `bits` highest bits of p and clears the others. Precondition: 1 <= bits <= 8.
at::Tensor Posterize(const at::Tensor& images, absl::Span<const double> bits);

// p where p < threshold, else 255 - p: 0 inverts the image, 256 leaves it.
at::Tensor Solarize(const at::Tensor& images, absl::Span<const double> thresholds);

// min(floor(p + addition), 255), then Solarize at 128. Not in Pillow: the operation of the RandAugment codes.
// Precondition: addition >= 0.
at::Tensor SolarizeAdd(const at::Tensor& images, absl::Span<const double> additions);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_POINT_OPS_H_
