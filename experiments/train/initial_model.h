// The model a training starts from.
#ifndef OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_
#define OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// On the context's device: the model of the training it depends on (action.start), or else one drawn from the action's
// seed and then given what action.model.weights has, whose tensors that are left out are appended to `ignored`, if
// given. Errors: those of LoadTrainedModel(), MakeModel() and ImportWeights().
absl::StatusOr<std::shared_ptr<Model>> MakeInitialModel(const TrainAction& action, const ActionContext& context,
                                                        std::vector<std::string>* ignored = nullptr);

// For an action without a training: commits the initial model as its checkpoint, with no epochs.
absl::Status CommitInitialModel(const TrainAction& action, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_INITIAL_MODEL_H_
