// A window of random size and shape, resized to the model's input size (Szegedy et al. 2015), as torchvision's
// RandomResizedCrop.
#ifndef OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
#define OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_

#include <memory>

#include "core/random.h"
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

// Up to ten times: the window's share of the area ~ U(min_area, max_area) and the logarithm of its ratio of width to
// height ~ U(log min_ratio, log max_ratio) give its sides, rounded (halves to even); if it fits in an image of `height`
// x `width`, its top, then its left are drawn uniformly. If none fits: the largest central window whose ratio is within
// the limits.
CropWindow DrawCropWindow(const RandomResizedCropSpec& spec, int64_t height, int64_t width, RandomStream* random);

// The window of images u8 [B, C, H, W] -> u8 [B, C, size, size], resized as Resize does (data/augment/resize.h).
at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size,
                       ResizeSpec::Filter filter = ResizeSpec::BILINEAR);

// Precondition as for MakeAugmentation; min_area <= max_area and min_ratio <= max_ratio.
std::unique_ptr<Augmentation> MakeRandomResizedCrop(const RandomResizedCropSpec& spec, int input_size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
