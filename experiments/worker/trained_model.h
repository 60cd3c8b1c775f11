// Loads the network that a training has stored.
#ifndef OPENSET_EXPERIMENTS_WORKER_TRAINED_MODEL_H_
#define OPENSET_EXPERIMENTS_WORKER_TRAINED_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Moves the model to the device and gives its convolutions the layout of images there (ImageLayout()).
void PlaceModel(const ExecutionSpec& execution, at::Device device, Model* model);

// Returns the network of the training `key` on the context's device, in training mode. Errors: kNotFound if it has not
// been trained; kDataLoss if the checkpoint does not match its checksum; kUnimplemented if a newer openset wrote it; a
// read failure (IsReadFailure() in experiments/store/store.h); as MakeModel() (models/make_model.h) if it is a
// TorchScript file.
absl::StatusOr<std::shared_ptr<Model>> LoadTrainedModel(const std::string& key, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_TRAINED_MODEL_H_
