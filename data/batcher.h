// Makes batches of a selection's images.
#ifndef OPENSET_DATA_BATCHER_H_
#define OPENSET_DATA_BATCHER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "data/image_source.h"
#include "data/pipeline.h"
#include "data/selection.h"

namespace openset {

// Returns the number of batches in an epoch of `samples` samples. The last batch may be short; `drop_last` leaves it
// out.
int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last);

// How a batch gets its open set. Without a source, it gets none.
struct OpenSetDrawing {
  OpenSetSource* source = nullptr;
  RandomStream* random = nullptr;
};

// The life of a batcher:
//   1. Make() copies a selection's images to the device, as they are stored, if they all have one size and at most
//      `resident_bytes` bytes together. Otherwise they are read again for each batch.
//   2. Epoch() draws an epoch's order.
//   3. At() makes one batch: it gathers the images and passes them through a pipeline. BatchStream (batch_stream.h)
//      does so in a second thread, while the previous batch is used.
//
// Images on the device pass the pipeline together. Images that are read pass its first part one by one, at their own
// size, each with its own random stream, whose seeds are drawn from the batch's stream in the order of the batch. If a
// training has augmentations, its exact results therefore depend on which of the two is used, and so on
// `resident_bytes`.
class Batcher {
 public:
  static constexpr int64_t kResidentBytes = int64_t{256} << 20;  // CIFAR-10's training part takes 150 MB

  // `channels`: of the model's input. If it is 1, colour images are converted to grey (ITU-R 601 luma, as Pillow's
  // "L"). Errors: kInvalidArgument if the images have neither `channels` channels nor one, and are not converted; if
  // they are copied, a read error (core/files/system_calls.h), and kDataLoss also for a corrupt image.
  static absl::StatusOr<Batcher> Make(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels,
                                      at::Device device, int64_t resident_bytes = kResidentBytes);

  int64_t size() const { return samples_.size(); }
  at::Device device() const { return device_; }
  const SelectedSamples& samples() const { return samples_; }

  // Returns the samples of each batch of an epoch (positions in the selection, i64 [B] on the host). Their order is
  // drawn from `random`, the same on every machine; it is the stored order if `random` is null. Precondition:
  // batch_size >= 1.
  std::vector<at::Tensor> Epoch(int64_t batch_size, bool drop_last, RandomStream* random) const;

  // Returns the batch of these samples, on the device; its `sample` is `samples`. `pipeline` must be for `channels`
  // channels; it draws from `random`. `open`, if it has a source, draws and makes what this needs for the batch.
  // Thread-safe, apart from the source. Errors: kInvalidArgument, with the image, if the pipeline would make it too
  // large (Pipeline::CheckSize()); unless all images are on the device, a read error, and kDataLoss also for a corrupt
  // image; the same for the images that the open set's source reads.
  absl::StatusOr<Batch> At(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random,
                           const OpenSetDrawing& open = {}) const;

  // The same in two steps, for a batch that is part of another one. Stage() adds to `staging`, which then moves to the
  // device; TakeStaged() takes from it, and leaves host_label undefined.
  absl::Status Stage(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random, Staging* staging) const;
  Batch TakeStaged(const Pipeline& pipeline, Staging* staging) const;

 private:
  Batcher(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels, at::Device device);

  absl::Status ReadAll();
  // u8 [B, ...] on the host, after the pipeline's first part.
  absl::StatusOr<at::Tensor> ReadBatch(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random) const;

  std::shared_ptr<const ImageSource> source_;  // null if the images are on the device
  SelectedSamples samples_;
  bool to_grey_;
  at::Device device_;
  at::Tensor images_;  // u8 [N, C, H, W] on the device, or undefined
  at::Tensor labels_;  // i64 [N] on the CPU
};

}  // namespace openset

#endif  // OPENSET_DATA_BATCHER_H_
