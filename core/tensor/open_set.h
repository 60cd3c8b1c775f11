// Training samples that represent unknown classes ("open samples"), and the sources that make them.
#ifndef OPENSET_CORE_TENSOR_OPEN_SET_H_
#define OPENSET_CORE_TENSOR_OPEN_SET_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/transfer.h"

namespace openset {

// The open samples of one training step, as the model sees them. U is their number.
struct OpenSet {
  ModelOutput output;  // [U, ...]
  // i64 [U]: for each open sample, the position in the batch of the known sample with which it forms a pair. Undefined
  // for sources without pairs.
  at::Tensor slot;
  // [U]: 1 for samples that count, 0 for dropped ones (for example, mixtures of one class).
  at::Tensor weight;
  // Only defined for mixtures of images: the share [U] of the known sample at `slot`, and the class i64 [U] of the rest
  // of the image, -1 if that is not a known class.
  at::Tensor share = {};
  at::Tensor partner = {};
};

// Makes the open samples of a training. The trainer uses a source in this order:
//   1. It makes the source from its spec, once per training.
//   2. It calls StartEpoch() before each epoch. Only State() carries over from one epoch to the next.
//   3. For each step, in order, the thread that makes batches calls Draw() and then Take(), while the model still
//      trains on an earlier batch. Draw() draws all random numbers of the step. Take() receives those that are tensors
//      on the device, and makes the images that don't depend on the model.
//   4. The model sees batch.open->image together with the known images. Then Make() makes the step's open samples from
//      its output. It may call the model too. A source that learns (a generator) takes the steps of its own optimiser
//      here; the trainer discards gradients that this leaves in the model.
//   5. Each checkpoint contains State(); a resumed training loads it into the same tensors. A checkpoint within an
//      epoch also contains EpochState(), which ResumeEpoch() restores after StartEpoch() of that epoch.
// Make() and State() may run while another thread is in one of the other functions, so they share no data with these.
class OpenSetSource {
 public:
  // What Draw() knows about a batch.
  struct DrawContext {
    const at::Tensor& label;          // i64 [B], on the host
    int64_t channels, height, width;  // of the batch's images
    RandomStream* random;
    Staging* staging;             // takes the tensors that Take() needs
    std::vector<double>* number;  // becomes batch.open->number
  };

  struct Context {
    const Batch& batch;
    const ModelOutput& known;  // for batch.image
    const ModelOutput& extra;  // for batch.open->image; its tensors are undefined if there are none
    // The model's forward pass, with its `norm_set`-th set of batch norms.
    std::function<ModelOutput(const at::Tensor& image, int norm_set)> forward;
    // The part of it after the features.
    std::function<ModelOutput(const at::Tensor& feature)> head;
    // The weighted sum of the loss terms that use the open set, for `open`. The known samples are constants in it.
    std::function<at::Tensor(const OpenSet& open)> objective;
    // The part of the forward pass after a stage: see Model::ForwardFrom() (models/model.h).
    std::function<ModelOutput(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps)> forward_from = {};
  };

  virtual ~OpenSetSource() = default;

  virtual void StartEpoch(RandomStream* /*random*/) {}

  // Errors, if the source reads images: a read error (core/files/system_calls.h); kDataLoss also for a corrupt image;
  // kInvalidArgument for an image that the pipeline can't take.
  virtual absl::Status Draw(const DrawContext& /*context*/) { return absl::OkStatus(); }

  // Takes from `staging` the tensors that Draw() added, and completes batch->open, which has the numbers that it added.
  virtual void Take(Staging* /*staging*/, Batch* /*batch*/) const {}

  // Whether the model sees batch.open->image instead of the batch. There must be as many of them as images in the
  // batch, and `known` and `extra` of Context are both the output for them.
  virtual bool ReplacesBatch() const { return false; }

  // The largest number of steps in an epoch with batches of this size, for sources whose images end the epoch. At
  // least 1.
  virtual int64_t MostSteps(int64_t /*batch_size*/) const { return std::numeric_limits<int64_t>::max(); }

  virtual OpenSet Make(const Context& context) = 0;

  // Everything that carries over between epochs, by name.
  virtual std::vector<std::pair<std::string, at::Tensor>> State() const { return {}; }

  // What changes within an epoch, apart from State(): for example, the position in an order.
  virtual std::vector<int64_t> EpochState() const { return {}; }
  // Errors: kInvalidArgument for a state that EpochState() can't have returned.
  virtual absl::Status ResumeEpoch(absl::Span<const int64_t> state) {
    return state.empty() ? absl::OkStatus() : absl::InvalidArgumentError("the open-set source has no such state");
  }
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_OPEN_SET_H_
