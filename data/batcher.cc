#include "data/batcher.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/tensor/torch_threads.h"
#include "data/augment/pixels/pixel_size.h"
#include "data/augment/random_greyscale.h"

namespace openset {
namespace {

// The number of images that are read at once.
constexpr int64_t kChunk = 64;

}  // namespace

int64_t BatchesPerEpoch(int64_t samples, int64_t batch_size, bool drop_last) {
  return drop_last ? samples / batch_size : (samples + batch_size - 1) / batch_size;
}

Batcher::Batcher(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels, at::Device device)
    : source_(std::move(source)),
      samples_(std::move(samples)),
      to_grey_(channels == 1 && source_->shape().channels == 3),
      device_(device),
      labels_(at::tensor(samples_.label, at::kLong)) {}

absl::StatusOr<Batcher> Batcher::Make(std::shared_ptr<const ImageSource> source, SelectedSamples samples, int channels,
                                      at::Device device, int64_t resident_bytes) {
  const ImageShape shape = source->shape();
  if (shape.channels != channels && shape.channels != 1 && !(channels == 1 && shape.channels == 3)) {
    return absl::InvalidArgumentError(
        absl::StrCat("channels: the model takes ", channels, ", but the images have ", shape.channels));
  }
  Batcher batcher(std::move(source), std::move(samples), channels, device);
  if (shape.bytes() > 0 && batcher.size() * shape.bytes() <= resident_bytes) OPENSET_RETURN_IF_ERROR(batcher.ReadAll());
  return batcher;
}

absl::Status Batcher::ReadAll() {
  const ImageShape shape = source_->shape();
  at::Tensor images = at::empty({size(), shape.channels, shape.height, shape.width}, at::kByte);
  uint8_t* out = images.mutable_data_ptr<uint8_t>();
  for (int64_t begin = 0; begin < size(); begin += kChunk) {
    const int64_t count = std::min(kChunk, size() - begin);
    OPENSET_ASSIGN_OR_RETURN(const std::vector<Image> some,
                             source_->Read(absl::MakeSpan(samples_.index).subspan(begin, count)));
    for (const Image& image : some) out = std::copy(image.pixels.begin(), image.pixels.end(), out);
  }
  if (to_grey_) images = Grey(images);
  images_ = images.to(device_);
  source_ = nullptr;
  return absl::OkStatus();
}

std::vector<at::Tensor> Batcher::Epoch(int64_t batch_size, bool drop_last, RandomStream* random) const {
  const at::Tensor order =
      random != nullptr ? at::tensor(random->Permutation(size()), at::kLong) : at::arange(size(), at::kLong);
  std::vector<at::Tensor> batches;
  const int64_t count = BatchesPerEpoch(size(), batch_size, drop_last);
  for (int64_t i = 0; i < count; ++i) batches.push_back(order.slice(0, i * batch_size, (i + 1) * batch_size));
  return batches;
}

absl::StatusOr<at::Tensor> Batcher::ReadBatch(const at::Tensor& samples, const Pipeline& pipeline,
                                              RandomStream* random) const {
  const int64_t* place = samples.const_data_ptr<int64_t>();
  const int64_t count = samples.size(0);
  std::vector<RandomStream> stream;
  for (int64_t i = 0; random != nullptr && i < count; ++i) stream.emplace_back(random->Bits(), "image");
  std::vector<int64_t> index;
  for (int64_t i = 0; i < count; ++i) index.push_back(samples_.index[place[i]]);
  std::vector<std::exception_ptr> thrown(count);
  std::vector<absl::Status> refused(count);
  at::Tensor ready;  // u8 [B, ...], allocated when the first image's size is known
  std::once_flag made;
  const auto put = [&](int64_t i, Image image) {
    const OneThreadScope one_thread;
    at::Tensor pixels = at::from_blob(image.pixels.data(), {1, image.channels, image.height, image.width}, at::kByte);
    if (to_grey_) pixels = Grey(pixels);
    const at::Tensor first = pipeline.ApplyFirst(pixels, random != nullptr ? &stream[i] : nullptr);
    std::call_once(made, [&] { ready = at::empty({count, first.size(1), first.size(2), first.size(3)}, at::kByte); });
    ready.narrow(0, i, 1).copy_(first);
  };
  OPENSET_RETURN_IF_ERROR(source_->ReadEach(index, [&](int64_t i, Image image) {
    try {
      if (const absl::Status fits = pipeline.CheckSize({image.height, image.width}); !fits.ok()) {
        refused[i] = Annotate(fits, source_->Describe(index[i]));
      } else {
        put(i, std::move(image));
      }
    } catch (...) {
      thrown[i] = std::current_exception();
    }
  }));
  for (const std::exception_ptr& one : thrown) {
    if (one != nullptr) std::rethrow_exception(one);
  }
  for (const absl::Status& one : refused) OPENSET_RETURN_IF_ERROR(one);
  return ready;
}

absl::Status Batcher::Stage(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random,
                            Staging* staging) const {
  staging->Add(samples);
  staging->Add(labels_.index_select(0, samples));
  if (images_.defined()) {
    OPENSET_RETURN_IF_ERROR(Annotate(pipeline.CheckSize({images_.size(2), images_.size(3)}), "each image"));
    pipeline.Draw(samples.size(0), {images_.size(2), images_.size(3)}, random, staging);
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(at::Tensor ready, ReadBatch(samples, pipeline, random));
  const PixelSize size = {ready.size(2), ready.size(3)};
  staging->Add(std::move(ready));
  pipeline.DrawRest(samples.size(0), size, random, staging);
  return absl::OkStatus();
}

Batch Batcher::TakeStaged(const Pipeline& pipeline, Staging* staging) const {
  Batch batch;
  batch.sample = staging->Next();
  batch.label = staging->Next();
  batch.view = images_.defined() ? pipeline.ApplyWithViews(images_.index_select(0, batch.sample), staging)
                                 : pipeline.ApplyRest(staging->Next(), staging);
  batch.image = std::move(batch.view.front());
  batch.view.erase(batch.view.begin());
  return batch;
}

absl::StatusOr<Batch> Batcher::At(const at::Tensor& samples, const Pipeline& pipeline, RandomStream* random,
                                  const OpenSetDrawing& open) const {
  Staging staging;
  OPENSET_RETURN_IF_ERROR(Stage(samples, pipeline, random, &staging));
  const at::Tensor host_label = labels_.index_select(0, samples);
  OpenSetDraws draws;
  if (open.source != nullptr) {
    const at::IntArrayRef image = pipeline.image_sizes();
    OPENSET_RETURN_IF_ERROR(
        open.source->Draw({host_label, image[0], image[1], image[2], open.random, &staging, &draws.number}));
  }
  staging.MoveTo(device_);
  Batch batch = TakeStaged(pipeline, &staging);
  batch.host_label = host_label;
  if (open.source != nullptr) {
    batch.open = std::move(draws);
    open.source->Take(&staging, &batch);
  }
  return batch;
}

}  // namespace openset
