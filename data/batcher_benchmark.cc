// Images/s of a training's input. Run on one core; copying alone is the baseline in the same run:
// OMP_NUM_THREADS=1 bazel run //data:batcher_benchmark
#include <utility>

#include "benchmark/benchmark.h"
#include "data/augment/augmentation_members.h"
#include "data/batcher.h"

namespace openset {
namespace {

constexpr int64_t kSamples = 4096;
constexpr int64_t kBatchSize = 128;

using Augmentations = std::vector<std::unique_ptr<const Augmentation>>;

// Images of random values.
Batcher MakeBatcher(int64_t channels, int64_t size) {
  ImageSet set;
  set.channels = channels;
  set.height = set.width = size;
  set.labels.assign(kSamples, 0);
  RandomStream random(0, "pixels");
  for (int64_t i = 0; i < kSamples * set.image_bytes(); ++i) set.pixels.push_back(random.Below(256));
  SelectedSamples samples;
  for (int64_t i = 0; i < kSamples; ++i) samples.index.push_back(i);
  samples.label.assign(kSamples, 0);
  return *Batcher::Make(MakeMemorySource(std::move(set), "train"), samples, 3, at::kCPU);
}

// Indexes and copies 3 x 32 x 32 images, as u8.
void BM_Gather(benchmark::State& state) {
  const at::Tensor images = at::zeros({kSamples, 3, 32, 32}, at::kByte);
  const at::Tensor order = at::randperm(kSamples, at::kLong);
  int64_t batch = 0;
  for (auto _ : state) {
    const int64_t begin = kBatchSize * (batch++ % (kSamples / kBatchSize));
    benchmark::DoNotOptimize(images.index_select(0, order.slice(0, begin, begin + kBatchSize)));
  }
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}
BENCHMARK(BM_Gather);

// Batches for a 32 x 32 colour model, from images of `channels` x `size` x `size`.
void BM_Batch(benchmark::State& state, int64_t channels, int64_t size, Augmentations (*make_augmentations)()) {
  InputFormat format;
  format.mean = {0.4914, 0.4822, 0.4465};
  format.std = {0.2023, 0.1994, 0.2010};
  const Batcher batcher = MakeBatcher(channels, size);
  const Pipeline pipeline = *Pipeline::Make(make_augmentations(), format, at::kCPU);
  RandomStream random(0, "augment");
  const std::vector<at::Tensor> epoch = batcher.Epoch(kBatchSize, /*drop_last=*/true, &random);
  int64_t batch = 0;
  for (auto _ : state) benchmark::DoNotOptimize(*batcher.At(epoch[batch++ % epoch.size()], pipeline, &random));
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}

Augmentations None() { return {}; }

Augmentations CropAndFlip() {
  Augmentations list;
  list.push_back(Make(RandomCropSpec(), 32));
  list.push_back(Make(HorizontalFlipSpec(), /*input_size=*/0));
  return list;
}

// The training of Vaze et al. 2022 on CIFAR-10: one operation of magnitude 6.
Augmentations RandAugment() {
  Augmentations list = CropAndFlip();
  RandAugmentSpec spec;
  spec.set_ops(1);
  spec.set_magnitude(6);
  spec.set_op_list(RandAugmentSpec::ALL_16);
  list.insert(list.begin(), Make(spec, /*input_size=*/0));
  return list;
}

BENCHMARK_CAPTURE(BM_Batch, cifar, 3, 32, None);
BENCHMARK_CAPTURE(BM_Batch, cifar_crop_flip, 3, 32, CropAndFlip);
BENCHMARK_CAPTURE(BM_Batch, cifar_rand_augment_crop_flip, 3, 32, RandAugment);
BENCHMARK_CAPTURE(BM_Batch, fashion_mnist, 1, 28, None);
BENCHMARK_CAPTURE(BM_Batch, fashion_mnist_crop_flip, 1, 28, CropAndFlip);

}  // namespace
}  // namespace openset
