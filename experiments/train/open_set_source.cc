#include "experiments/train/open_set_source.h"

#include <utility>

#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "experiments/spec/method.proto.h"
#include "experiments/train/open_set/open_set_members.h"
#include "experiments/worker/input_pipeline.h"

namespace openset {

absl::StatusOr<std::unique_ptr<OpenSetSource>> MakeOpenSetSource(const TrainAction& action,
                                                                 const ActionContext& context, int64_t feature_dim) {
  OpenSetSetting setting;
  setting.device = context.device;
  setting.seed = action.seed();
  setting.batch_size = action.training().batch_size();
  setting.format = FormatOf(action, context.device);
  setting.classes = action.data().class_id_size();
  setting.feature_dim = feature_dim;
  setting.stages = TraitsOf(action.model()).stages();
  setting.external_images = [&]() -> absl::StatusOr<PipelinedImages> {
    OPENSET_ASSIGN_OR_RETURN(Batcher images,
                             context.images->MakeBatcher(action.external(), action.input().channels(), context.device));
    OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, ExternalPipeline(action, context.device));
    return PipelinedImages{std::move(images), std::move(pipeline)};
  };
  return Make(action.open_set(), setting);
}

}  // namespace openset
