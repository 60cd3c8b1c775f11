// Rotations, shears and translations, bit for bit as Pillow's Image.rotate and Image.transform (AFFINE) on 8-bit
// images.
//
// Each output pixel is taken from a place of the input; pixels from outside are 0. Images are u8 [B, C, H, W], on any
// device, with a value per image (B of them).
#ifndef OPENSET_DATA_AUGMENT_PIXELS_AFFINE_OPS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_AFFINE_OPS_H_

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

enum class Interpolation {
  kNearest,   // Pillow's default and RandAugment's: of the pixel at the place, found in fixed-point numbers (16.16)
  kBilinear,  // AugMix's: between the four pixels around the place, in double, rounded down
};

// Counterclockwise around the middle of the image. Precondition: no side is longer than 16,000 pixels.
at::Tensor Rotate(const at::Tensor& images, absl::Span<const double> degrees,
                  Interpolation interpolation = Interpolation::kNearest);

// Takes pixel (x, y) from (x + shear * y, y): positive shears move the lower rows to the left.
// Precondition: W + |shear| * H < 32,768.
at::Tensor ShearX(const at::Tensor& images, absl::Span<const double> shears,
                  Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x, y + shear * x): positive shears move the right columns up.
// Precondition: H + |shear| * W < 32,768.
at::Tensor ShearY(const at::Tensor& images, absl::Span<const double> shears,
                  Interpolation interpolation = Interpolation::kNearest);

// Takes pixel (x, y) from (x + shift, y): positive shifts, in pixels, move the image to the left.
at::Tensor TranslateX(const at::Tensor& images, absl::Span<const double> shifts,
                      Interpolation interpolation = Interpolation::kNearest);
// Takes pixel (x, y) from (x, y + shift): positive shifts, in pixels, move the image up.
at::Tensor TranslateY(const at::Tensor& images, absl::Span<const double> shifts,
                      Interpolation interpolation = Interpolation::kNearest);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_AFFINE_OPS_H_
