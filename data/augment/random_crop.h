// A window of the image's own size at a random place of the image padded with zeros.
#ifndef OPENSET_DATA_AUGMENT_RANDOM_CROP_H_
#define OPENSET_DATA_AUGMENT_RANDOM_CROP_H_

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// The top left corner of the window is uniform on {0, ..., 2 padding}^2 of the padded image; for each image its row is
// drawn, then its column. Precondition as for MakeAugmentation.
std::unique_ptr<Augmentation> MakeRandomCrop(const RandomCropSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_RANDOM_CROP_H_
