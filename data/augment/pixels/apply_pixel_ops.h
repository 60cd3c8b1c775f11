// Applies operations on pixels (make_pixel_op.h) to a batch of images, in one pass on the CPU and in one kernel on
// GPUs.
//
// It is registered with LibTorch as `openset::apply_pixel_ops`. On the CPU, it runs in the calling thread. Its kernel
// for GPUs is in pixel_ops_kernel.cu; programs that use GPUs link pixel_ops_cuda.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_APPLY_PIXEL_OPS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_APPLY_PIXEL_OPS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "core/tensor/torch.h"
#include "data/augment/pixels/pixel_op.h"

namespace openset {

// u8 [B, C, H, W] with C of 1 or 3 -> the same shape, on the same device, contiguous. Image i gets its n operations,
// ops[i n] to ops[(i + 1) n - 1], one after the other. Its result does not depend on the rest of the batch.
// Precondition: ops has B n elements.
at::Tensor ApplyPixelOps(const at::Tensor& images, absl::Span<const PixelOp> ops);

// The operations of `images` images as one tensor on the CPU: u8 [B, n * sizeof(PixelOp)].
// Precondition: ops has B n elements.
at::Tensor PackPixelOps(absl::Span<const PixelOp> ops, int64_t images);

// ApplyPixelOps() for packed operations on the device of `images`.
at::Tensor ApplyPackedPixelOps(const at::Tensor& images, const at::Tensor& ops);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_APPLY_PIXEL_OPS_H_
