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

// What is known about each training sample so far, indexed by Batch.sample. On the training device.
struct SampleHistory {
  // i64 [N]: in how many training steps the sample was classified correctly. Updated after each step, so it includes
  // the current epoch for samples that it has already used.
  at::Tensor correct;
  int64_t epochs = 0;  // complete epochs
};

// The training for which a term with parameters or a state is made.
struct LossSetting {
  at::Device device = at::kCPU;
  int64_t classes = 0;   // known ones
  int64_t features = 0;  // D
  uint64_t seed = 0;     // the training's; initial values are drawn from it
};

// A training step as a term sees it. Outputs are f32 (f64 in tests), whatever the precision of the network.
struct LossInput {
  const Batch& batch;
  const ModelOutput& known;       // for batch
  const OpenSet* open = nullptr;  // null if the method has no open-set source
  // These two are null unless a term needs them (Traits, core/proto/traits.proto).
  const SampleHistory* history = nullptr;
  const std::vector<ModelOutput>* views = nullptr;  // for further augmentations of the batch's images, in its order
  int64_t epoch = 0;                                // from 0
  int64_t epochs = 0;                               // of the whole training
};

// A term of the training objective. The trainer uses it in this order:
//   1. MakeLossTerm() makes it from its spec, once per training, with its parameters on the training's device.
//   2. The model's optimiser trains its Parameters(), if it has any. Each checkpoint contains them.
//   3. In each step, Compute() returns the term's value. The trainer adds up the terms and differentiates the sum. The
//      classes of single terms return values without lambda; MakeLossTerm() multiplies by it.
//   4. After the optimiser's step, EndStep() updates the state that the term learns without the optimiser. Compute()
//      doesn't change it.
class LossTerm {
 public:
  virtual ~LossTerm() = default;

  // A scalar to minimise: a mean over samples or pairs, or 0 if there are none (no pair is kept). Differentiable in
  // `input.known` and `input.open->output`. Finite for finite logits.
  virtual at::Tensor Compute(const LossInput& input) = 0;

  virtual void EndStep() {}

  // Learnable tensors by name.
  virtual std::vector<std::pair<std::string, at::Tensor>> Parameters() const { return {}; }

  // Everything else that the term keeps between steps, by name. Each checkpoint contains it; a resumed training loads
  // it into these tensors.
  virtual std::vector<std::pair<std::string, at::Tensor>> State() const { return {}; }
};

}  // namespace openset

#endif  // OPENSET_LOSSES_LOSS_H_
