// The first action of a trial: training data -> checkpoint. Contains the only optimisation loop.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Adds metrics of the model to an epoch of the training's learning curve (experiments/learning_curve/measure_epoch.h).
using EpochMeasurement = std::function<absl::Status(const TrainAction& action, const std::shared_ptr<Model>& model,
                                                    const ActionContext& context, EpochSummary* epoch)>;

// Trains as the action says and commits the checkpoint to the store. Each epoch's random numbers come from streams
// named by the action's seed and the epoch. The state is saved after the first epoch, after later epochs if the last
// save is 30 seconds old, at the end, and between two steps if context.poll() returns true. A training that is
// killed or stopped and started again therefore ends with the same bits as one that was not. `measure` is called after
// the epochs that TrainAction.evaluation asks for. Errors: an error of the data (data/sets/data_set.h); as
// MakeInitialModel() (experiments/train/checkpoint.h); kAborted with the epoch if the loss is no longer finite;
// kCancelled if it was asked to stop and its state is saved; a read failure (IsReadFailure() in
// experiments/store/store.h) of a saved state; a write error (core/files/files.h); any error that `measure` returns.
// Precondition: `measure` is callable if the action has an evaluation.
absl::Status Train(const TrainAction& action, const ActionContext& context, const EpochMeasurement& measure = nullptr);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_H_
