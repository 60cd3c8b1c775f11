// The image pipelines of training and inference.
#ifndef OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_
#define OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "data/pipeline.h"
#include "experiments/spec/action.proto.h"
#include "models/model.pb.h"

namespace openset {

// The format of the images that the action's input specifies, for a model on the device.
InputFormat FormatOf(const TrainAction& action, at::Device device);

// The training pipeline, with the action's augmentations.
absl::StatusOr<Pipeline> TrainingPipeline(const TrainAction& action, at::Device device);

// The same, also with the action's views, if it has any.
absl::StatusOr<Pipeline> TrainingPipelineWithViews(const TrainAction& action, at::Device device);

// The pipeline for the external images: with their own augmentations, or the action's if they have none. Precondition:
// it has open_set.external_images.
absl::StatusOr<Pipeline> ExternalPipeline(const TrainAction& action, at::Device device);

// The inference pipeline of the action's model: only resizes (and crops, if the input says so) and normalises. With
// `as_stored` (Selection.as_stored), it doesn't crop, and only resizes to the input's size.
absl::StatusOr<Pipeline> EvaluationPipeline(const TrainAction& action, at::Device device, bool as_stored);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_INPUT_PIPELINE_H_
