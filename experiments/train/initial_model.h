// The model that a training starts from.
#ifndef OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_
#define OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_context.h"
#include "models/import_weights.h"
#include "models/model.h"

namespace openset {

// Returns a model on the context's device. It is the model of the training in action.start, if there is one. Otherwise
// it is drawn from the action's seed and gets the weights of action.model.weights, whose notes
// are added to `notes`, unless it is null. Errors: those of LoadTrainedModel(), MakeModel() and ImportWeights().
absl::StatusOr<std::shared_ptr<Model>> MakeInitialModel(const TrainAction& action, const ActionContext& context,
                                                        ImportNotes* notes = nullptr);

// For an action without a training: commits the initial model as its checkpoint, without epochs.
absl::Status CommitInitialModel(const TrainAction& action, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_
