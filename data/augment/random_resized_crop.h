// A window of random size and shape, resized to the model's input size (Szegedy et al. 2015), as torchvision's
// RandomResizedCrop.
#ifndef OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
#define OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"
#include "data/augment/crop_window.h"

namespace openset {

// The window of images u8 [B, C, H, W] -> u8 [B, C, size, size], resized as Resize does (data/augment/resize.h).
at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size,
                       ResizeSpec::Filter filter = ResizeSpec::BILINEAR);

// Precondition as for MakeAugmentation; min_area <= max_area and min_ratio <= max_ratio.
std::unique_ptr<Augmentation> MakeRandomResizedCrop(const RandomResizedCropSpec& spec, int input_size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_RESIZED_CROP_H_
