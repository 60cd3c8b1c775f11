// The image sizes that a network accepts.
#ifndef OPENSET_MODELS_IMAGE_LIMITS_H_
#define OPENSET_MODELS_IMAGE_LIMITS_H_

#include "models/model.pb.h"

namespace openset {

// Two convolutions and poolings reduce these images to one value per channel.
inline constexpr int kOsrciCnnSmallestImage = 16;
// The network halves images five times; the last three times it rounds down.
inline constexpr int kDensenetSmallestImage = 29;
// One patch.
inline constexpr int kSwinTransformerSmallestImage = 4;

// The least height and width of an image; 1 if there is no limit or if it is unknown (for a script).
int SmallestImageSize(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_MODELS_IMAGE_LIMITS_H_
