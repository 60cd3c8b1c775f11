// A trained model's way into the store.
#ifndef OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
#define OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// The provenance of a training by now; `earlier` is that of its runs before this one, empty if there was none.
StageProvenance TrainProvenance(const TrainAction& action, const StageProvenance& earlier,
                                const ActionContext& context);

// Writes the checkpoint folder of the action `context.key`: the model, `summary` (to which the checkpoint's digest and
// the schema version are added), summary.action as text and, unless it is "", a copy of the file `state`, which others
// go on from. Errors: those of Store::CommitFolder(); kUnavailable if it can't be copied.
absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context,
                              const std::string& state = "");

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
