// A trained model's way into the store.
#ifndef OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
#define OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_

#include "absl/status/status.h"
#include "experiments/store/record.pb.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// Writes the checkpoint folder of the action `context.key`: the model, `summary` (to which the checkpoint's digest,
// LibTorch's version and the device are added) and summary.action as text. Errors: those of Store::CommitFolder().
absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_COMMIT_CHECKPOINT_H_
