// Passes images through trained networks and stores the outputs.
#ifndef OPENSET_EXPERIMENTS_INFER_INFERENCE_H_
#define OPENSET_EXPERIMENTS_INFER_INFERENCE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

// ---- Decides how many batches may pass a network at the same time: one for each CPU, if their memory fits.

// The first pass runs alone, and its memory is measured. Later passes may together take half of the memory that is free
// at that time.
class PassesAtOnce {
 public:
  // These return bytes: the free memory, the memory of this process, and its peak. Tests set them.
  struct Memory {
    std::function<int64_t()> free, used, peak;
  };

  PassesAtOnce();
  explicit PassesAtOnce(Memory memory) : memory_(memory) {}

  // From 1 to `cpus`; 1 before the first pass has ended.
  int Count(int cpus) const;

  // Call these before and after each group of passes.
  void Begin();
  void End();

 private:
  Memory memory_;
  int64_t used_before_ = 0;
  std::optional<int64_t> most_;  // once the first pass is measured
};

// ---- The second action of a trial: computes the outputs for the test data from a checkpoint, and stores them.

// An action and its key.
struct InferRequest {
  std::string key;
  ActionSpec action;
};

// Returns the outputs of `models` (one, or an ensemble's members; on the context's device) for the action's known
// samples, then each group of unknown samples, then each shifted group of known samples. `train` is the training of the
// first model. Puts the models in evaluation mode. Errors: an error of the data (data/sets/data_set.h);
// kInvalidArgument also for images that the models can't take; kDataLoss also if a selection was made from other files.
absl::StatusOr<Outputs> CollectOutputs(const InferAction& action, const TrainAction& train,
                                       std::vector<std::shared_ptr<Model>> models, const ActionContext& context);

// Runs the model over the known test samples, then over each group of unknown ones, and commits the outputs to the
// store. Several requests may differ only in the settings of an input perturbation; each image is then loaded once for
// all of them, and they share passes (experiments/infer/make_predictor.h). The results are the same as if each request
// ran alone. Errors: also kNotFound or kDataLoss if a checkpoint is missing or corrupt; kUnimplemented if a newer
// openset wrote it; a read failure (IsReadFailure() in experiments/store/store.h); a write error (core/files/files.h).
absl::Status Infer(absl::Span<const InferRequest> requests, const ActionContext& context);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_INFER_INFERENCE_H_
