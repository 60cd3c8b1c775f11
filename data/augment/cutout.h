// A filled square somewhere in each image, as in the RandAugment codes.
#ifndef OPENSET_DATA_AUGMENT_CUTOUT_H_
#define OPENSET_DATA_AUGMENT_CUTOUT_H_

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

// Fills with the colour (125, 123, 114), or its grey 123, the columns trunc(x0) to trunc(x1) and the rows trunc(y0) to
// trunc(y1), both ends included, with
//   x0 = trunc(max(0, centre_x - size / 2)),  x1 = min(W, x0 + size),  and y0, y1 likewise with H.
// So the square is one pixel wider than its size, keeps its width at the left and top edges and loses what lies beyond
// the right and bottom ones. Bit for bit Pillow's ImageDraw.rectangle with these corners.
//
// Images are u8 [B, C, H, W] with C of 1 or 3, on any device; B centres and sizes, in pixels.
// Preconditions: size >= 0, centre_x <= W, centre_y <= H.
at::Tensor Cutout(const at::Tensor& images, absl::Span<const double> sizes, absl::Span<const double> centre_x,
                  absl::Span<const double> centre_y);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_CUTOUT_H_
