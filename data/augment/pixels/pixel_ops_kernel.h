// The launch of the kernel in pixel_ops_kernel.cu.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_KERNEL_H_
#define OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_KERNEL_H_

#include <cstdint>

namespace openset {

// All pointers are to the memory of the current CUDA device.
struct PixelOpsLaunch {
  const uint8_t* images;  // [B, C, H, W]
  const uint8_t* ops;     // [B, n] PixelOp
  uint8_t* result;        // [B, C, H, W]
  uint8_t* spare;         // as large, overwritten
  int batch, ops_of_image, channels, height, width;
  void* stream;  // cudaStream_t
};

// The function OpensetLaunchPixelOps of libpixel_ops_kernel.so. Starts the kernel on the stream and does not wait for
// it. Returns a cudaError_t, 0 if it was started.
using PixelOpsLauncher = int (*)(const PixelOpsLaunch* launch);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_PIXEL_OPS_KERNEL_H_
