// One number per image of a batch.
#ifndef OPENSET_DATA_AUGMENT_PER_IMAGE_H_
#define OPENSET_DATA_AUGMENT_PER_IMAGE_H_

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

// `values` as a tensor [B, 1, 1, 1] of `dtype` on the device of `images` [B, C, H, W].
// Precondition: there are B values.
at::Tensor PerImage(absl::Span<const double> values, at::ScalarType dtype, const at::Tensor& images);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PER_IMAGE_H_
