// How fast a training is, before there is one: what `openset plan` asks a worker.
#ifndef OPENSET_EXPERIMENTS_TRAIN_PROBE_H_
#define OPENSET_EXPERIMENTS_TRAIN_PROBE_H_

#include "absl/status/status.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Takes steps of the training as its action says (model, augmentation, open set, loss, optimiser, batch size,
// precision) on random images, and reports once, with the training images a second (as
// StageProvenance.images_per_second counts them) of the steps after the first. Images are as large as the catalog has
// those of the action's data set; of the input's size where each has its own or the catalog knows none. So reading and
// decoding files is not in the figure. The model starts from random values, whatever the action starts from. The store
// is neither read nor written. Errors: those of making the model; kFailedPrecondition for an action without a training.
absl::Status Probe(const ProbeAction& probe, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_PROBE_H_
