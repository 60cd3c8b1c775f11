#include "experiments/spec/method/open_set_traits.h"

#include "data/open_set/open_set.pb.h"

namespace openset {

OpenSetTraits TraitsOf(const OpenSetSpec& open_set) {
  OpenSetTraits traits;
  switch (open_set.kind_case()) {
    case OpenSetSpec::kFeatureMixup:
      traits.slots = true;
      return traits;
    case OpenSetSpec::kExternalImages:
      traits.more_images = open_set.external_images().share();
      traits.external = true;
      traits.replaces_batch = open_set.external_images().has_pix_mix();
      traits.mixes_images = traits.replaces_batch || open_set.external_images().has_mix();
      return traits;
    case OpenSetSpec::kConfusingImages:
      traits.more_images = 2;
      traits.power_of_two = true;
      return traits;
    case OpenSetSpec::kMixedImages:
      traits.more_images = open_set.mixed_images().beside_batch() ? 1 : 0;
      traits.mixes_images = true;
      traits.replaces_batch = !open_set.mixed_images().beside_batch();
      return traits;
    case OpenSetSpec::kStageMixup:
      traits.stages = 2;
      return traits;
    case OpenSetSpec::kNoiseImages:
    case OpenSetSpec::kOverlayImages:
    case OpenSetSpec::kVirtualOutliers:
    case OpenSetSpec::KIND_NOT_SET:
      return traits;
  }
  return traits;
}

bool ReadsExternalImages(const MethodSpec& method) {
  return TraitsOf(method.open_set()).external || TraitsOf(method.pretraining().open_set()).external;
}

}  // namespace openset
