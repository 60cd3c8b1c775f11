// The second action of a trial: checkpoint and test data -> stored outputs.
#ifndef OPENSET_EXPERIMENTS_INFERENCE_H_
#define OPENSET_EXPERIMENTS_INFERENCE_H_

#include "absl/status/status.h"
#include "experiments/action.pb.h"
#include "experiments/action_context.h"

namespace openset {

// Runs the model over the known test samples, then over each group of unknown ones, and commits the outputs to the
// store. Errors: those of the data; kNotFound or kDataLoss for a checkpoint that is missing or damaged.
absl::Status Infer(const InferAction& action, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFERENCE_H_
