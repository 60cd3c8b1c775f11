// Batches of a selection's images.
#ifndef OPENSET_DATA_BATCHER_H_
#define OPENSET_DATA_BATCHER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "data/image_source.h"
#include "data/pipeline.h"
#include "data/selection.h"

namespace openset {

// The batches of an epoch of `samples` samples: the last one may be short, or is left out with `drop_last`.
int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last);

// The life of a batcher:
//   1. Make copies a selection's images to the device, as they are stored, if they are of one size and take at most
//      `resident_bytes` together. Others are read anew for each batch.
//   2. Epoch draws an epoch's order.
//   3. At makes a batch of it: gathers its images and passes them through a pipeline. BatchStream (batch_stream.h) does
//      so for one batch after the other while the last one is used.
//
// Images that are on the device pass the pipeline together; those that are read go through its first part one by one,
// at their own size, each with a random stream of its own, whose seeds are drawn from the batch's stream in the order
// of the batch. So which of the two it is decides the bits of a training with augmentation, and the limit with it.
class Batcher {
 public:
  static constexpr int64_t kResidentBytes = int64_t{256} << 20;  // CIFAR-10's training part takes 150 MB

  // `channels`: of the model's input. Where it is 1, colour images become grey (ITU-R 601 luma, as Pillow's "L").
  // Errors: kInvalidArgument if the images have another number otherwise, and are not grey; those of reading.
  static absl::StatusOr<Batcher> Make(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels,
                                      at::Device device, int64_t resident_bytes = kResidentBytes);

  int64_t size() const { return samples_.size(); }
  const SelectedSamples& samples() const { return samples_; }

  // The samples (places in the selection, i64 [B] on the host) of each batch of an epoch, in an order drawn from
  // `random`, the same on every machine; in the stored order if it is null. Precondition: batch_size >= 1.
  std::vector<at::Tensor> Epoch(int64_t batch_size, bool drop_last, RandomStream* random) const;

  // The batch of these samples, on the device; its `sample` is `samples`. The pipeline, which is for `channels`, draws
  // from `random`. From any thread. Errors: those of ImageSource::Read; never for images on the device.
  absl::StatusOr<Batch> At(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random) const;

 private:
  Batcher(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels, at::Device device);

  absl::Status ReadAll();
  // u8 [B, ...] on the device, after the pipeline's first part.
  absl::StatusOr<at::Tensor> ReadBatch(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random) const;

  std::shared_ptr<const ImageSource> source_;  // null if the images are on the device
  SelectedSamples samples_;
  bool to_grey_;
  at::Device device_;
  at::Tensor images_;  // u8 [N, C, H, W] on the device, or undefined
  at::Tensor labels_;  // i64 [N] on the device
};

}  // namespace openset

#endif  // OPENSET_DATA_BATCHER_H_
