// Training samples that stand for unknown classes, and where they come from.
#ifndef OPENSET_CORE_TENSOR_OPEN_SET_H_
#define OPENSET_CORE_TENSOR_OPEN_SET_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/random.h"
#include "core/tensor/batch.h"

namespace openset {

// What the model says of the open samples of one step. U is their number.
struct OpenSet {
  ModelOutput output;  // [U, ...]
  // i64 [U]: the place in the batch of the known sample that an open sample is paired with, for terms over pairs of the
  // same slot. Undefined for sources without such pairs.
  at::Tensor slot;
  // [U], 1 for samples that count, 0 for those dropped (mixtures of one class, say).
  at::Tensor weight;
  // Of mixtures of images, undefined for others: the share [U] of the known sample at `slot`, and i64 [U] the class of
  // the rest of the image, -1 for none of the known ones.
  at::Tensor share = {};
  at::Tensor partner = {};
};

// Makes the open samples of a training. The life of a source:
//   1. It is made from its spec, once a training.
//   2. StartEpoch() tells it of each epoch, so that nothing but State() is carried over from one to the next.
//   3. Each step it may add images to the batch (ExtraImages); the model sees them together with the known ones.
//   4. Then it makes the step's open samples (Make), from the model's output for the known and the extra images and,
//      where it needs more, by calling the model itself. A source that learns (a generator) takes its own optimiser's
//      steps here; gradients it leaves in the model are discarded.
//   5. State() is saved with each checkpoint, and loaded in place when a training resumes; between two steps of an
//      epoch EpochState() as well, which ResumeEpoch() takes back after StartEpoch() of that epoch.
class OpenSetSource {
 public:
  struct Context {
    const Batch& batch;
    const ModelOutput& known;  // for batch.image
    const ModelOutput& extra;  // for the images ExtraImages() gave; its tensors are undefined if there were none
    // The model's whole forward pass, with its `norm_set`-th set of batch norms.
    std::function<ModelOutput(const at::Tensor& image, int norm_set)> forward;
    // The part after the features.
    std::function<ModelOutput(const at::Tensor& feature)> head;
    // The weighted sum of the loss terms that use the open set, for this one; the known samples are constants in it.
    std::function<at::Tensor(const OpenSet& open)> objective;
    RandomStream* random;
    // From behind a stage of the network on, as Model::ForwardFrom() (models/model.h) says.
    std::function<ModelOutput(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps)> forward_from = {};
  };

  virtual ~OpenSetSource() = default;

  virtual void StartEpoch(RandomStream* /*random*/) {}

  // f32 [U, C, H, W] like batch.image, or undefined. Errors: those of reading images from files.
  virtual absl::StatusOr<at::Tensor> ExtraImages(const Batch& /*batch*/, RandomStream* /*random*/) {
    return at::Tensor();
  }

  // Whether the model sees ExtraImages() instead of the batch, to which it then gives as many images: `known` and
  // `extra` of Context are both the output for them.
  virtual bool ReplacesBatch() const { return false; }

  // Steps for which it has images in one pass over the training samples in batches of this size, where an epoch ends
  // with them. At least 1.
  virtual int64_t MostSteps(int64_t /*batch_size*/) const { return std::numeric_limits<int64_t>::max(); }

  virtual OpenSet Make(const Context& context) = 0;

  // Tensors by name.
  virtual std::vector<std::pair<std::string, at::Tensor>> State() const { return {}; }

  // What an epoch under way has made of its beginning, beside State(): its place in an order, say.
  virtual std::vector<int64_t> EpochState() const { return {}; }
  // Errors: kInvalidArgument for what EpochState() can't have given.
  virtual absl::Status ResumeEpoch(absl::Span<const int64_t> state) {
    return state.empty() ? absl::OkStatus() : absl::InvalidArgumentError("the open-set source has no such state");
  }
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_OPEN_SET_H_
