#include "experiments/train/open_set_source.h"

#include <utility>

#include "core/status_macros.h"
#include "data/open_set/external_images.h"
#include "data/open_set/feature_mixup.h"
#include "data/open_set/mixed_images.h"
#include "data/open_set/noise_images.h"
#include "data/open_set/overlay_images.h"
#include "data/open_set/pix_mix.h"
#include "data/open_set/stage_mixup.h"
#include "data/open_set/virtual_outliers.h"
#include "experiments/train/confusing_images.h"
#include "experiments/worker/input_pipeline.h"
#include "models/network_traits.h"

namespace openset {
namespace {

absl::StatusOr<std::unique_ptr<OpenSetSource>> ExternalImagesOf(const TrainAction& action,
                                                                const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(Batcher batcher,
                           context.images->MakeBatcher(action.external(), action.input().channels(), context.device));
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, ExternalPipeline(action, context.device));
  const ExternalImagesSpec& spec = action.open_set().external_images();
  std::unique_ptr<OpenSetSource> images =
      MakeExternalImages(spec, action.training().batch_size(), std::move(batcher), std::move(pipeline));
  if (!spec.has_pix_mix()) return images;
  return MakePixMixedImages(spec.pix_mix(), FormatOf(action, context.device), context.device, std::move(images));
}

}  // namespace

absl::StatusOr<std::unique_ptr<OpenSetSource>> MakeOpenSetSource(const TrainAction& action,
                                                                 const ActionContext& context, int64_t feature_dim) {
  const OpenSetSpec& spec = action.open_set();
  switch (spec.kind_case()) {
    case OpenSetSpec::kFeatureMixup:
      return MakeFeatureMixup(spec.feature_mixup());
    case OpenSetSpec::kNoiseImages:
      return MakeNoiseImages(spec.noise_images());
    case OpenSetSpec::kOverlayImages:
      return MakeOverlayImages(spec.overlay_images());
    case OpenSetSpec::kExternalImages:
      return ExternalImagesOf(action, context);
    case OpenSetSpec::kConfusingImages:
      return MakeConfusingImages(spec.confusing_images(), action.input(), action.seed(), context.device);
    case OpenSetSpec::kMixedImages:
      return MakeMixedImages(spec.mixed_images());
    case OpenSetSpec::kVirtualOutliers:
      return MakeVirtualOutliers(spec.virtual_outliers(), action.data().class_id_size(), feature_dim, context.device);
    case OpenSetSpec::kStageMixup:
      return MakeStageMixup(spec.stage_mixup(), TraitsOf(action.model()).stages);
    case OpenSetSpec::KIND_NOT_SET:
      break;
  }
  return nullptr;
}

}  // namespace openset
