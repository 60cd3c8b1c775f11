// Applies operations on pixels to batches, for tests.
#ifndef OPENSET_DATA_AUGMENT_TESTING_APPLY_EACH_H_
#define OPENSET_DATA_AUGMENT_TESTING_APPLY_EACH_H_

#include <vector>

#include "absl/types/span.h"
#include "core/tensor/torch.h"
#include "data/augment/pixels/apply_pixel_ops.h"
#include "data/augment/pixels/make_pixel_op.h"

namespace openset {

// Applies make(values[i]) to image i.
template <typename Make>
at::Tensor ApplyEach(const at::Tensor& images, absl::Span<const double> values, const Make& make) {
  std::vector<PixelOp> ops;
  for (const double value : values) ops.push_back(make(value));
  return ApplyPixelOps(images, ops);
}

// Applies the same operation to all images.
inline at::Tensor ApplyToAll(const at::Tensor& images, const PixelOp& op) {
  return ApplyPixelOps(images, std::vector<PixelOp>(images.size(0), op));
}

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_TESTING_APPLY_EACH_H_
