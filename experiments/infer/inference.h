// The second action of a trial: computes the outputs for the test data from a checkpoint, and stores them.
#ifndef OPENSET_EXPERIMENTS_INFER_INFERENCE_H_
#define OPENSET_EXPERIMENTS_INFER_INFERENCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/worker/action_context.h"
#include "models/model.h"

namespace openset {

// An action and its key.
struct InferRequest {
  std::string key;
  InferAction action;
};

// Returns the outputs of `models` (one, or an ensemble's members; on the context's device) for the action's known
// samples, then each group of unknown samples, then each shifted group of known samples. Puts the models in evaluation
// mode. Errors: those of the data.
absl::StatusOr<Outputs> CollectOutputs(const InferAction& action, std::vector<std::shared_ptr<Model>> models,
                                       const ActionContext& context);

// Runs the model over the known test samples, then over each group of unknown ones, and commits the outputs to the
// store. Several requests may differ only in the settings of an input perturbation; each image is then loaded once for
// all of them, and they share passes (experiments/infer/make_predictor.h). The results are the same as if each request
// ran alone. Errors: those of the data; kNotFound or kDataLoss if a checkpoint is missing or corrupt.
absl::Status Infer(absl::Span<const InferRequest> requests, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_INFERENCE_H_
