// Different operations on the images of one batch.
#ifndef OPENSET_DATA_AUGMENT_APPLY_GROUPED_H_
#define OPENSET_DATA_AUGMENT_APPLY_GROUPED_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "core/tensor/torch.h"

namespace openset {

// Applies to image i of `images` [B, C, H, W] the operation `op_of_image[i]`, 0 <= op < ops; an image with op -1 stays
// as it is. `apply` runs once for each operation that occurs, in ascending order, on all images that get it: it is
// given the operation, these images [n, C, H, W] and their places in the batch (n of them, ascending), and returns as
// many images of the same size. The result is contiguous. Precondition: there are B operations.
at::Tensor ApplyGrouped(
    const at::Tensor& images, absl::Span<const int> op_of_image, int ops,
    const std::function<at::Tensor(int op, const at::Tensor& members, const std::vector<int64_t>& places)>& apply);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_APPLY_GROUPED_H_
