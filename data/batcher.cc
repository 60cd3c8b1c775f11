#include "data/batcher.h"

#include "absl/strings/str_cat.h"

namespace openset {

int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last) {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

absl::StatusOr<Batcher> Batcher::Make(const ImageSet& set, const SelectedSamples& samples, int channels,
                                      at::Device device) {
  if (set.channels != channels && set.channels != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("channels: the model takes ", channels, ", but the images have ", set.channels));
  }
  // Only read from.
  const at::Tensor all = at::from_blob(const_cast<uint8_t*>(set.pixels.data()),
                                       {set.size(), set.channels, set.height, set.width}, at::kByte);
  return Batcher(all.index_select(0, at::tensor(samples.index, at::kLong)).to(device),
                 at::tensor(samples.label, at::kLong).to(device));
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
  return {pipeline.Apply(images_.index_select(0, samples), random), labels_.index_select(0, samples), samples};
}

}  // namespace openset
