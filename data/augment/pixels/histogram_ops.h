// Operations that stretch each channel's histogram, bit for bit as Pillow's ImageOps on 8-bit images.
//
// Images are u8 [B, C, H, W], on any device; each channel of each image has a mapping of its own.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_HISTOGRAM_OPS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_HISTOGRAM_OPS_H_

#include "core/tensor/torch.h"

namespace openset {

// Maps the lowest value of the channel to 0 and the highest to 255, linearly, rounded down. A constant channel stays.
at::Tensor AutoContrast(const at::Tensor& images);

// Maps the values so that they spread evenly over 0 to 255: with n(p) the pixels below p, n the pixels that are not of
// the highest value, and step = floor(n / 255), p -> min(floor((floor(step / 2) + n(p)) / step), 255). Where step is 0
// (a constant channel, an image of few pixels) the channel stays.
at::Tensor Equalize(const at::Tensor& images);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_HISTOGRAM_OPS_H_
