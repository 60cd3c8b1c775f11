// What is known about a network before it is made.
#ifndef OPENSET_MODELS_NETWORK_TRAITS_H_
#define OPENSET_MODELS_NETWORK_TRAITS_H_

#include "models/model.pb.h"

namespace openset {

// Two convolutions and poolings reduce these images to one value per channel.
inline constexpr int kOsrciCnnSmallestImage = 16;
// The network halves images five times; the last three times it rounds down.
inline constexpr int kDensenetSmallestImage = 29;
// One patch.
inline constexpr int kSwinTransformerSmallestImage = 4;

struct NetworkTraits {
  // The least height and width of an image; 1 if there is no limit or if it is unknown (for a script).
  int smallest_image = 1;
  // Backbone::num_stages() (models/model.h): the stages that show their feature maps. 0 for transformers and scripts.
  int stages = 0;
  // Whether MC-dropout (McDropoutSpec) would change anything.
  bool has_dropout = false;
};

// The defaults, if no network is set.
NetworkTraits TraitsOf(const ModelSpec& model);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORK_TRAITS_H_
