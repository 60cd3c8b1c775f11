// The interface of a loss term.
#ifndef OPENSET_LOSSES_LOSS_H_
#define OPENSET_LOSSES_LOSS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"

namespace openset {

// How a training has gone for each training sample so far; indexed by Batch.sample. On the training device.
struct SampleHistory {
  // i64 [N]: how often the sample was classified correctly by the pass of its training step; updated after each step,
  // so that the epoch under way counts for the samples it has had.
  at::Tensor correct;
  int64_t epochs = 0;  // epochs that are complete
};

// What a term with parameters or a state is made for.
struct LossSetting {
  at::Device device = at::kCPU;
  int64_t classes = 0;   // known ones
  int64_t features = 0;  // D
  uint64_t seed = 0;     // of the training; initial values are drawn from it
};

// What a term sees of a training step. Outputs are f32 (f64 in tests), whatever precision the network computes in.
struct LossInput {
  const Batch& batch;
  const ModelOutput& known;       // for batch
  const OpenSet* open = nullptr;  // null where the method has no open-set source
  // Null unless a term needs them (losses/loss_needs.h).
  const SampleHistory* history = nullptr;
  const std::vector<ModelOutput>* views = nullptr;  // for further augmentations of the batch's images, in its order
  int64_t epoch = 0;                                // from 0
  int64_t epochs = 0;                               // of the whole training
};

// A term of the training objective. Its life:
//   1. MakeLossTerm() makes it from its spec, once a training, with its parameters on the training's device.
//   2. Parameters(), if it has any, are trained by the model's optimiser and saved with each checkpoint.
//   3. Each step Compute() gives the term's value, lambda included, which the trainer adds to the others' and
//      differentiates. (A member's own value is without lambda; MakeLossTerm() multiplies.)
//   4. EndStep() follows the optimiser's step: what a term learns by a rule of its own changes there, so that Compute()
//      alone changes nothing.
class LossTerm {
 public:
  virtual ~LossTerm() = default;

  // A scalar that is to be minimised, a mean over samples or pairs. Differentiable in `input.known` and
  // `input.open->output`. Where nothing counts (no pair is kept) it is 0. Finite for finite logits.
  virtual at::Tensor Compute(const LossInput& input) = 0;

  virtual void EndStep() {}

  // Learnable tensors by name.
  virtual std::vector<std::pair<std::string, at::Tensor>> Parameters() const { return {}; }

  // What else it keeps from step to step, by names of its own; saved with each checkpoint and loaded in place.
  virtual std::vector<std::pair<std::string, at::Tensor>> State() const { return {}; }
};

}  // namespace openset

#endif  // OPENSET_LOSSES_LOSS_H_
