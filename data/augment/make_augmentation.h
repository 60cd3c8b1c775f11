// AugmentationSpec -> Augmentation.
#ifndef OPENSET_DATA_AUGMENT_MAKE_AUGMENTATION_H_
#define OPENSET_DATA_AUGMENT_MAKE_AUGMENTATION_H_

#include <memory>

#include "data/augment/augment.pb.h"
#include "data/augment/augmentation.h"

namespace openset {

// `input_size`: the model's input size, for Resize and crops.
// Precondition: the spec obeys its schema's rules and has its defaults filled in.
std::unique_ptr<Augmentation> MakeAugmentation(const AugmentationSpec& spec, int input_size);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_MAKE_AUGMENTATION_H_
