// A window of the image's own size, or of the model's input size, at a random position in the image, which is padded
// with zeros.
#ifndef OPENSET_DATA_AUGMENT_RANDOM_CROP_H_
#define OPENSET_DATA_AUGMENT_RANDOM_CROP_H_

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// The top left corner of the window is uniform on the places of the padded image where it fits, {0, ..., 2 padding}^2
// for the image's own size; for each image its row is drawn, then its column. `input_size` is for windows of that size.
// Precondition as for MakeAugmentation.
std::unique_ptr<Augmentation> MakeRandomCrop(const RandomCropSpec& spec, int input_size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_CROP_H_
