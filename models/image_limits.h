// Which images a network can take.
#ifndef OPENSET_MODELS_IMAGE_LIMITS_H_
#define OPENSET_MODELS_IMAGE_LIMITS_H_

#include "models/model.pb.h"

namespace openset {

// Two convolutions and poolings leave one value a channel of them.
inline constexpr int kOsrciCnnSmallestImage = 16;
// Five halvings, of which the last three round down.
inline constexpr int kDensenetSmallestImage = 29;
// A patch.
inline constexpr int kSwinTransformerSmallestImage = 4;

// Height and width of the smallest images; 1 if there is no limit, or where it is not known (a script's).
int SmallestImageSize(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_MODELS_IMAGE_LIMITS_H_
