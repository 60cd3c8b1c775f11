#include "data/batcher.h"

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

// u8 [N, 3, H, W] -> u8 [N, 1, H, W]: ITU-R 601 luma in 16 bits after the point, as Pillow's mode "L".
at::Tensor Grey(const at::Tensor& images) {
  const at::Tensor wide = images.to(at::kInt);
  const at::Tensor sum = wide.select(1, 0) * 19595 + wide.select(1, 1) * 38470 + wide.select(1, 2) * 7471 + 0x8000;
  return at::bitwise_right_shift(sum, 16).to(at::kByte).unsqueeze(1);
}

}  // namespace

int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last) {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

absl::StatusOr<Batcher> Batcher::Make(const ImageSet& set, const SelectedSamples& samples, int channels,
                                      at::Device device) {
  const bool to_grey = channels == 1 && set.channels == 3;
  if (set.channels != channels && set.channels != 1 && !to_grey) {
    return absl::InvalidArgumentError(
        absl::StrCat("channels: the model takes ", channels, ", but the images have ", set.channels));
  }
  // Only read from.
  const at::Tensor all = at::from_blob(const_cast<uint8_t*>(set.pixels.data()),
                                       {set.size(), set.channels, set.height, set.width}, at::kByte);
  at::Tensor images = all.index_select(0, at::tensor(samples.index, at::kLong));
  if (to_grey) images = Grey(images);
  return Batcher(images.to(device), at::tensor(samples.label, at::kLong).to(device));
}

std::vector<at::Tensor> Batcher::Epoch(int64_t batch_size, bool drop_last, RandomStream* random) const {
  const at::Tensor order = random != nullptr ? at::tensor(random->Permutation(size()), at::kLong).to(labels_.device())
                                             : at::arange(size(), labels_.options());
  std::vector<at::Tensor> batches;
  const int64_t count = BatchesPerEpoch(size(), batch_size, drop_last);
  for (int64_t i = 0; i < count; ++i) batches.push_back(order.slice(0, i * batch_size, (i + 1) * batch_size));
  return batches;
}

Batch Batcher::At(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random) const {
  std::vector<at::Tensor> images = pipeline.ApplyWithViews(images_.index_select(0, samples), random);
  Batch batch{images[0], labels_.index_select(0, samples), samples};
  batch.view.assign(images.begin() + 1, images.end());
  return batch;
}

}  // namespace openset
