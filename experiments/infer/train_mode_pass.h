// Passes over the training images in training mode, for TrainModePassSpec.
#ifndef OPENSET_EXPERIMENTS_INFER_TRAIN_MODE_PASS_H_
#define OPENSET_EXPERIMENTS_INFER_TRAIN_MODE_PASS_H_

#include <functional>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Passes once over the training images of `train`, in a random order, augmented as in the training, in batches of
// spec.batch_size (the last may be short). Batch norms in `model` normalise by each batch and update their running
// statistics; dropout is on. Parameters don't change. Random numbers come from streams of the training's seed. `report`
// receives the completed share. Returns the logits, f32 [N, K] on the CPU, in the order of the selection
// (Batcher::samples()). Errors: an error of the data (data/sets/data_set.h). Postcondition: the model is in training
// mode.
absl::StatusOr<at::Tensor> PassInTrainMode(const TrainModePassSpec& spec, const TrainAction& train, Model* model,
                                           const ActionContext& context, const std::function<void(double)>& report);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_TRAIN_MODE_PASS_H_
