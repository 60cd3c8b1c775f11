// Stores a trained model.
#ifndef OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
#define OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// The provenance of a training so far. `earlier` is that of its earlier runs, empty if there were none.
StageProvenance TrainProvenance(const TrainAction& action, const StageProvenance& earlier,
                                const ActionContext& context);

// Writes the checkpoint folder of the action `context.key`: the model, `summary` (with the checkpoint's digest and the
// schema version added), summary.action as text and, unless it is "", a copy of the file `state`, from which other
// trainings can continue. Errors: those of Store::CommitFolder(); kUnavailable if the file can't be copied.
absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context,
                              const std::string& state = "");

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
