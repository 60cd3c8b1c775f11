// Measures how fast a training would be. `openset plan` asks a worker for it.
#ifndef OPENSET_EXPERIMENTS_TRAIN_PROBE_H_
#define OPENSET_EXPERIMENTS_TRAIN_PROBE_H_

#include "absl/status/status.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Makes steps of the action's training (model, augmentation, open set, loss, optimiser, batch size, precision) on
// random images, and reports once, with the training images per second (as in StageProvenance.images_per_second) of the
// steps after the first. The images have the size that the catalog gives for the action's data set, or the input's size
// if images have different sizes or the catalog has none. Reading and decoding files is therefore not included. The
// model starts from random values, whatever the action starts from. Neither reads nor writes the store. Errors:
// kInvalidArgument if the images are too small for the backbone, or have other channels than the model takes; as
// MakeModel() (models/make_model.h) if the model is a TorchScript file; kFailedPrecondition for an action without a
// training.
absl::Status Probe(const ProbeAction& probe, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_PROBE_H_
