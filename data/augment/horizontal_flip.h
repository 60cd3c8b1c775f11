// Mirrors each image left to right with a probability.
#ifndef OPENSET_DATA_AUGMENT_HORIZONTAL_FLIP_H_
#define OPENSET_DATA_AUGMENT_HORIZONTAL_FLIP_H_

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// One uniform number is drawn for each image. Precondition as for MakeAugmentation.
std::unique_ptr<Augmentation> MakeHorizontalFlip(const HorizontalFlipSpec& spec);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_HORIZONTAL_FLIP_H_
