// The image pipelines of training and inference.
#ifndef OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_
#define OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "data/pipeline.h"
#include "experiments/spec/action.proto.h"
#include "models/model.pb.h"

namespace openset {

// As the input says.
InputFormat FormatOf(const InputSpec& input);

// With the action's augmentations.
absl::StatusOr<Pipeline> TrainingPipeline(const TrainAction& action, at::Device device);

// Also with its views, if it has any.
absl::StatusOr<Pipeline> TrainingPipelineWithViews(const TrainAction& action, at::Device device);

// Of its external images: their own augmentations, or the action's where they have none. Precondition: it has
// open_set.external_images.
absl::StatusOr<Pipeline> ExternalPipeline(const TrainAction& action, at::Device device);

// Resize, or as the input says resize and crop, and normalisation only.
absl::StatusOr<Pipeline> EvaluationPipeline(const InputSpec& input, at::Device device);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_
