// Resizes a window of each image, all together. For images on a GPU, where separate operations would need launches for
// each image.
#ifndef OPENSET_DATA_AUGMENT_RESIZE_CROPS_H_
#define OPENSET_DATA_AUGMENT_RESIZE_CROPS_H_

#include <vector>

#include "core/tensor/torch.h"
#include "data/augment/augment.pb.h"
#include "data/augment/crop_window.h"

namespace openset {

// u8 [B, C, H, W] and B windows inside the images, f32 [B, 4] with top, height, left and width of each, on the same
// device -> u8 [B, C, size, size], with the filters and the rounding of Resize (data/augment/resize.h). The order of
// sums differs from there, so that values may differ by 1 (2 where BICUBIC overshoots). Needs fewer than 80 operations
// for any B. Computes in f32 even if TF32 is allowed. Preconditions: B, size >= 1; no window is empty.
at::Tensor ResizeCrops(const at::Tensor& images, const at::Tensor& windows, int size, ResizeSpec::Filter filter);

// The windows as ResizeCrops() takes them, on the CPU.
at::Tensor PackCropWindows(const std::vector<CropWindow>& windows);

// Window `i` of packed windows on the CPU.
CropWindow CropWindowAt(const at::Tensor& windows, int64_t i);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RESIZE_CROPS_H_
