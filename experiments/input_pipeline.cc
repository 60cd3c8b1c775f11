#include "experiments/input_pipeline.h"

#include <memory>
#include <utility>
#include <vector>

#include "data/augment/make_augmentation.h"

namespace openset {
namespace {

InputFormat FormatOf(const InputSpec& input) {
  return {input.size(),
          input.channels(),
          {input.mean().begin(), input.mean().end()},
          {input.std().begin(), input.std().end()}};
}

}  // namespace

absl::StatusOr<Pipeline> TrainingPipeline(const TrainAction& action, at::Device device) {
  std::vector<std::unique_ptr<const Augmentation>> augmentations;
  for (const AugmentationSpec& spec : action.augmentation()) {
    augmentations.push_back(MakeAugmentation(spec, action.input().size()));
  }
  return Pipeline::Make(std::move(augmentations), FormatOf(action.input()), device);
}

absl::StatusOr<Pipeline> EvaluationPipeline(const InputSpec& input, at::Device device) {
  return Pipeline::Make({}, FormatOf(input), device);
}

}  // namespace openset
