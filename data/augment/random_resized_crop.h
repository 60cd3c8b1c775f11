// A random part of an image (Szegedy et al. 2015), as torchvision's RandomResizedCrop draws it.
#ifndef OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
#define OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// In pixels.
struct CropWindow {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

// Draws the window's share of the area from U(min_area, max_area) and the logarithm of its ratio of width to height
// from U(log min_ratio, log max_ratio). They give its sides, rounded (halves to even). If the window fits in an image
// of `height` x `width`, draws its top and then its left uniformly; otherwise tries again. After ten windows that don't
// fit, returns the largest central window whose ratio is within the limits, at least 1 pixel high and wide.
CropWindow DrawCropWindow(const RandomResizedCropSpec& spec, int64_t height, int64_t width, RandomStream* random);

// Resizes a window of each image, all together. For images on a GPU, where separate operations would need launches for
// each image.

// u8 [B, C, H, W] and B windows inside the images, f32 [B, 4] with top, height, left and width of each, on the same
// device -> u8 [B, C, size, size], with the filters and the rounding of Resize (data/augment/resize.h). The order of
// sums differs from there, so that values may differ by 1 (2 where BICUBIC overshoots). Needs fewer than 80 operations
// for any B. Computes in f32 even if TF32 is allowed. Preconditions: B, size >= 1; no window is empty.
at::Tensor ResizeCrops(const at::Tensor& images, const at::Tensor& windows, int size, ResizeSpec::Filter filter);

// The windows as ResizeCrops() takes them, on the CPU.
at::Tensor PackCropWindows(const std::vector<CropWindow>& windows);

// Window `i` of packed windows on the CPU.
CropWindow CropWindowAt(const at::Tensor& windows, int64_t i);

// A window of random size and shape, resized to the model's input size (Szegedy et al. 2015), as torchvision's
// RandomResizedCrop.

// The window of images u8 [B, C, H, W] -> u8 [B, C, size, size], resized as Resize does (data/augment/resize.h).
at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size,
                       ResizeSpec::Filter filter = ResizeSpec::BILINEAR);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
