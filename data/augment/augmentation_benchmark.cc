// Images per second in batches of 128: `OMP_NUM_THREADS=1 bazel run //data/augment:augmentation_benchmark` for one
// thread. BM_Normalize, which every training step does anyway, is the baseline for the others.
#include <benchmark/benchmark.h>

#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "data/augment/augmentation_members.h"
#include "data/augment/rand_augment.h"

namespace openset {
namespace {

constexpr int64_t kBatch = 128;

at::Tensor Images(int64_t channels, int64_t size) {
  RandomStream random(1, "images");
  at::Tensor images = at::empty({kBatch, channels, size, size}, at::kByte);
  for (int64_t i = 0; i < images.numel(); ++i) images.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(random.Bits());
  return images;
}

template <typename Step>
void Measure(benchmark::State& state, Step step) {
  for (auto _ : state) benchmark::DoNotOptimize(step());
  state.SetItemsProcessed(state.iterations() * kBatch);
}

RandAugmentSpec Spec(int64_t ops) {
  RandAugmentSpec spec;
  spec.set_ops(static_cast<int>(ops));
  spec.set_magnitude(9);
  spec.set_op_list(RandAugmentSpec::ALL_16);
  return spec;
}

// Arguments: channels, size.
void BM_Normalize(benchmark::State& state) {
  const at::Tensor images = Images(state.range(0), state.range(1));
  Measure(state, [&] { return images.to(at::kFloat).div_(255).sub_(0.45).div_(0.2); });
}
BENCHMARK(BM_Normalize)->Args({3, 32})->Args({1, 28});

void BM_CropAndFlip(benchmark::State& state) {
  const at::Tensor images = Images(state.range(0), state.range(1));
  const auto crop = Make(RandomCropSpec(), static_cast<int>(state.range(1)));
  const auto flip = Make(HorizontalFlipSpec(), /*input_size=*/0);
  RandomStream random(2, "augmentation");
  Measure(state, [&] { return flip->Apply(crop->Apply(images, &random), &random); });
}
BENCHMARK(BM_CropAndFlip)->Args({3, 32})->Args({1, 28});

// Arguments: channels, size, operations.
void BM_RandAugment(benchmark::State& state) {
  const at::Tensor images = Images(state.range(0), state.range(1));
  const auto rand_augment = Make(Spec(state.range(2)), /*input_size=*/0);
  RandomStream random(2, "augmentation");
  Measure(state, [&] { return rand_augment->Apply(images, &random); });
}
BENCHMARK(BM_RandAugment)->Args({3, 32, 1})->Args({3, 32, 2})->Args({1, 28, 1})->Args({1, 28, 2});

void BM_RandAugmentCropAndFlip(benchmark::State& state) {
  const at::Tensor images = Images(state.range(0), state.range(1));
  const auto rand_augment = Make(Spec(state.range(2)), /*input_size=*/0);
  const auto crop = Make(RandomCropSpec(), static_cast<int>(state.range(1)));
  const auto flip = Make(HorizontalFlipSpec(), /*input_size=*/0);
  RandomStream random(2, "augmentation");
  Measure(state, [&] { return flip->Apply(crop->Apply(rand_augment->Apply(images, &random), &random), &random); });
}
BENCHMARK(BM_RandAugmentCropAndFlip)->Args({3, 32, 1})->Args({1, 28, 1});

// Arguments: channels, size.
void BM_AugMix(benchmark::State& state) {
  const at::Tensor images = Images(state.range(0), state.range(1));
  AugMixSpec spec;
  FillDefaults(&spec);
  const auto aug_mix = Make(spec, /*input_size=*/0);
  RandomStream random(2, "augmentation");
  Measure(state, [&] { return aug_mix->Apply(images, &random); });
}
BENCHMARK(BM_AugMix)->Args({3, 32})->Args({1, 28});

// Argument: the operation.
void BM_Operation(benchmark::State& state) {
  const at::Tensor images = Images(3, 32);
  const auto op = static_cast<RandAugmentOp>(state.range(0));
  const std::vector<RandAugmentDraw> draws(kBatch, {op, RandAugmentValue(op, 9), 16, 16});
  Measure(state, [&] { return ApplyRandAugment(images, draws); });
}
BENCHMARK(BM_Operation)->DenseRange(0, 15);

}  // namespace
}  // namespace openset
