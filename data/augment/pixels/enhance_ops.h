// The enhancements of Pillow's ImageEnhance, bit for bit on 8-bit images of 1 ("L") or 3 ("RGB") channels.
//
// Each blends an image p with a degenerate version d of itself: trunc(clamp(d + factor * (p - d), 0, 255)) in float32,
// so a factor of 0 gives d, 1 the image, more than 1 exaggerates. Images are u8 [B, C, H, W], on any device, with a
// factor per image (B of them).
#ifndef OPENSET_DATA_AUGMENT_PIXELS_ENHANCE_OPS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_ENHANCE_OPS_H_

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

// d is the grey image, (19595 R + 38470 G + 7471 B + 32768) >> 16 in each channel. A grey image stays.
at::Tensor EnhanceColor(const at::Tensor& images, absl::Span<const double> factors);

// d is the mean of the grey image, rounded (halves up), everywhere.
at::Tensor EnhanceContrast(const at::Tensor& images, absl::Span<const double> factors);

// d is black.
at::Tensor EnhanceBrightness(const at::Tensor& images, absl::Span<const double> factors);

// d is the image smoothed by the 3x3 kernel of ones with 5 in the middle, over 13, rounded. The outermost pixels stay,
// and with them every image of fewer than 3 rows or columns.
at::Tensor EnhanceSharpness(const at::Tensor& images, absl::Span<const double> factors);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_ENHANCE_OPS_H_
