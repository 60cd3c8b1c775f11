// The window of the model's input size in the middle of the image, as torchvision's CenterCrop.
#ifndef OPENSET_DATA_AUGMENT_CENTER_CROP_H_
#define OPENSET_DATA_AUGMENT_CENTER_CROP_H_

#include <memory>

#include "data/augment/augmentation.h"

namespace openset {

// u8 [B, C, H, W] -> u8 [B, C, size, size]: its top is (H - size) / 2 and its left (W - size) / 2, halves rounded to
// even. A shorter side is first padded with zeros to `size`; of an odd number of zeros, one more comes after. Draws
// nothing.
std::unique_ptr<Augmentation> MakeCenterCrop(int input_size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_CENTER_CROP_H_
