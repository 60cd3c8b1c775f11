#include "core/torch.h"
// core/torch.h goes first: core/logging.h takes over its macros.
#include "core/logging.h"
#include "data/open_set/noise_images.h"
#include "data/open_set/overlay_images.h"
#include "experiments/open_set_source.h"
#include "losses/feature_mixup.h"

namespace openset {

std::unique_ptr<OpenSetSource> MakeOpenSetSource(const OpenSetSpec& spec) {
  switch (spec.kind_case()) {
    case OpenSetSpec::kFeatureMixup:
      return MakeFeatureMixup(spec.feature_mixup());
    case OpenSetSpec::kNoiseImages:
      return MakeNoiseImages(spec.noise_images());
    case OpenSetSpec::kOverlayImages:
      return MakeOverlayImages(spec.overlay_images());
    case OpenSetSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "an open-set source without a kind";
  return nullptr;
}

}  // namespace openset
