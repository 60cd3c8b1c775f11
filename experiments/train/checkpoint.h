// The weights with which a training starts, and those that it commits.
#ifndef OPENSET_EXPERIMENTS_TRAIN_CHECKPOINT_H_
#define OPENSET_EXPERIMENTS_TRAIN_CHECKPOINT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/import_weights.h"
#include "models/model.h"

namespace openset {

// ---- Stores a trained model.

// The action `context.key`.
ActionSpec SpecOf(const TrainAction& action, const ActionContext& context);

// The provenance of a training so far. `earlier`: of its earlier runs; empty if there were none.
StageProvenance TrainProvenance(const TrainAction& action, const StageProvenance& earlier,
                                const ActionContext& context);

// Writes the checkpoint folder of the action `context.key`: the model, `summary` (with the checkpoint's digest and the
// schema version added), summary.action as text and, unless it is "", a copy of the file `state`, from which other
// trainings can continue. Errors: a write error (core/files/files.h).
absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context,
                              const std::string& state = "");

// ---- The model that a training starts from.

// Returns a model on the context's device. It is the model of the training from which `context.inputs` says to start,
// if there is one. Otherwise it is drawn from the action's seed and gets the weights of action.model.weights, whose
// notes are added to `notes`, unless it is null. Errors: as LoadTrainedModel() (experiments/worker/trained_model.h) for
// the model of a training. Otherwise: kInvalidArgument if the images are too small for the backbone, or a script or
// weights can't be used; a read error (core/files/system_calls.h), of which kNotFound names the missing file;
// kFailedPrecondition if the file has another SHA-256.
absl::StatusOr<std::shared_ptr<Model>> MakeInitialModel(const TrainAction& action, const ActionContext& context,
                                                        ImportNotes* notes = nullptr);

// For an action without a training: commits the initial model as its checkpoint, without epochs. Errors: as
// MakeInitialModel(); a write error.
absl::Status CommitInitialModel(const TrainAction& action, const ActionContext& context);

// For a training by another program, which has written the weights of the action's network: commits the network with
// them. Errors: kInvalidArgument, with what to do, for tensors that are missing, left over or of another shape, and for
// other formats; a read error; kDataLoss also for a corrupt file; a write error.
absl::Status CommitWeights(const TrainAction& action, const std::string& weights,
                           const std::vector<EpochSummary>& epochs, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_CHECKPOINT_H_
