// Batches of a selection whose images stay on the device.
#ifndef OPENSET_DATA_BATCHER_H_
#define OPENSET_DATA_BATCHER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "data/image_set.h"
#include "data/pipeline.h"
#include "data/selection.h"

namespace openset {

// The batches of an epoch of `samples` samples: the last one may be short, or is left out with `drop_last`.
int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last);

// The life of a batcher:
//   1. Make copies a selection's images to the device, as they are stored.
//   2. Epoch draws an epoch's order.
//   3. At makes a batch of it: gathers its images and passes them through a pipeline.
class Batcher {
 public:
  // `channels`: of the model's input. Where it is 1, colour images become grey (ITU-R 601 luma, as Pillow's "L").
  // Errors: kInvalidArgument if the images have another number otherwise, and are not grey.
  static absl::StatusOr<Batcher> Make(const ImageSet& set, const SelectedSamples& samples, int channels,
                                      at::Device device);

  int64_t size() const { return labels_.size(0); }

  // The samples (places in the selection, i64 [B] on the device) of each batch of an epoch, in an order drawn from
  // `random`, the same on every machine; in the stored order if it is null. Precondition: batch_size >= 1.
  std::vector<at::Tensor> Epoch(int64_t batch_size, bool drop_last, RandomStream* random) const;

  // The batch of these samples; its `sample` is `samples`. The pipeline, which is for `channels`, draws from `random`.
  Batch At(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random) const;

 private:
  Batcher(at::Tensor images, at::Tensor labels) : images_(std::move(images)), labels_(std::move(labels)) {}

  at::Tensor images_;  // u8 [N, C, H, W]
  at::Tensor labels_;  // i64 [N]
};

}  // namespace openset

#endif  // OPENSET_DATA_BATCHER_H_
