#include "experiments/worker/input_pipeline.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/status_macros.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/resize.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/worker/execution.h"

namespace openset {
namespace {

std::vector<std::unique_ptr<const Augmentation>> MakeAll(
    const google::protobuf::RepeatedPtrField<AugmentationSpec>& specs, const InputSpec& input) {
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  for (const AugmentationSpec& spec : specs) augmentations.push_back(Make(spec, input.size()));
  return augmentations;
}

}  // namespace

InputFormat FormatOf(const TrainAction& action, at::Device device) {
  const InputSpec& input = action.input();
  if (action.model().has_features()) {
    InputFormat format;
    format.size = action.model().features().dim();
    format.is_features = true;
    return format;
  }
  return {input.size(),
          input.channels(),
          {input.mean().begin(), input.mean().end()},
          {input.std().begin(), input.std().end()},
          ImageLayout(action.execution(), device)};
}

absl::StatusOr<Pipeline> TrainingPipeline(const TrainAction& action, at::Device device) {
  return Pipeline::Make(MakeAll(action.augmentation(), action.input()), FormatOf(action, device), device);
}

absl::StatusOr<Pipeline> ExternalPipeline(const TrainAction& action, at::Device device) {
  const auto& own = action.open_set().external_images().augmentation();
  if (own.empty()) return TrainingPipeline(action, device);
  return Pipeline::Make(MakeAll(own, action.input()), FormatOf(action, device), device);
}

absl::StatusOr<Pipeline> TrainingPipelineWithViews(const TrainAction& action, at::Device device) {
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipeline(action, device));
  if (action.has_views()) {
    const ViewsSpec& views = action.views();
    OPENSET_RETURN_IF_ERROR(
        pipeline.AddViews(views.count(), MakeAll(views.augmentation(), action.input()), views.from_resized()));
  }
  return pipeline;
}

absl::StatusOr<Pipeline> EvaluationPipeline(const TrainAction& action, at::Device device, bool as_stored) {
  const InputSpec& input = action.input();
  const auto filter = input.test_filter() == InputSpec::BICUBIC ? ResizeSpec::BICUBIC : ResizeSpec::BILINEAR;
  std::vector<std::unique_ptr<const Augmentation>> transforms;
  if (input.test_shorter_side() > 0 && !as_stored) {
    transforms.push_back(MakeResizeShorterSide(input.test_shorter_side(), filter));
    transforms.push_back(Make(CenterCropSpec(), input.size()));
  } else if (filter == ResizeSpec::BICUBIC) {
    transforms.push_back(MakeResize(input.size(), filter));
  }
  return Pipeline::Make(std::move(transforms), FormatOf(action, device), device);
}

}  // namespace openset
