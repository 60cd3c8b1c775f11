// Images per second of networks on the CPU: the forward pass, and a whole training step (forward pass, cross entropy,
// backward pass, SGD). `bazel run //models:model_benchmark`; tools/peers/train_step_peer.py compares with PyTorch.
#include <memory>
#include <vector>

#include "benchmark/benchmark.h"
#include "core/heap.h"
#include "core/proto_rules.h"
#include "core/random.h"
#include "core/torch.h"
#include "models/initialise.h"
#include "models/make_model.h"

namespace openset {
namespace {

constexpr int kBatchSize = 128;
constexpr int kNumClasses = 6;

struct Setting {
  std::shared_ptr<Model> model;
  at::Tensor image;
  at::Tensor label;
};

Setting MakeSetting(ModelSpec spec, const benchmark::State& state) {
  KeepFreedMemory();
  at::set_num_threads(state.range(1));
  spec.mutable_head()->mutable_linear();
  FillDefaults(&spec);
  InputSpec input;
  FillDefaults(&input);
  RandomStream random(1, "model_benchmark");
  Setting setting;
  setting.model = *MakeModel(spec, input, kNumClasses, &random);
  setting.image = at::empty({kBatchSize, input.channels(), input.size(), input.size()});
  DrawNormal(0, 1, &random, setting.image);
  if (state.range(0) == 1) {
    setting.image = setting.image.contiguous(at::MemoryFormat::ChannelsLast);
  } else {
    for (at::Tensor& parameter : setting.model->parameters()) parameter.set_data(parameter.detach().contiguous());
  }
  setting.label = at::arange(kBatchSize) % kNumClasses;
  return setting;
}

void Forward(const ModelSpec& spec, benchmark::State& state) {
  Setting setting = MakeSetting(spec, state);
  setting.model->eval();
  const at::NoGradGuard no_grad;
  for (auto _ : state) benchmark::DoNotOptimize(setting.model->Forward(setting.image).logits);
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}

// SGD with momentum 0.9 and weight decay 1e-4.
void Update(const std::vector<at::Tensor>& parameters, std::vector<at::Tensor>* velocities) {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& velocity = (*velocities)[i];
    velocity.mul_(0.9).add_(parameters[i].grad().add(parameters[i], 1e-4));
    parameters[i].add_(velocity, -0.01);
  }
}

void TrainStep(const ModelSpec& spec, benchmark::State& state) {
  Setting setting = MakeSetting(spec, state);
  const std::vector<at::Tensor> parameters = setting.model->parameters();
  std::vector<at::Tensor> velocities;
  for (const at::Tensor& parameter : parameters) velocities.push_back(at::zeros_like(parameter).detach());
  for (auto _ : state) {
    setting.model->zero_grad();
    at::cross_entropy_loss(setting.model->Forward(setting.image).logits, setting.label).backward();
    Update(parameters, &velocities);
  }
  state.SetItemsProcessed(state.iterations() * kBatchSize);
}

ModelSpec Vgg32() {
  ModelSpec spec;
  spec.mutable_vgg32();
  return spec;
}

ModelSpec OsrciCnn() {
  ModelSpec spec;
  spec.mutable_osrci_cnn();
  return spec;
}

void BM_Vgg32Forward(benchmark::State& state) { Forward(Vgg32(), state); }
void BM_Vgg32TrainStep(benchmark::State& state) { TrainStep(Vgg32(), state); }
void BM_OsrciCnnForward(benchmark::State& state) { Forward(OsrciCnn(), state); }
void BM_OsrciCnnTrainStep(benchmark::State& state) { TrainStep(OsrciCnn(), state); }

void Settings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"channels_last", "threads"})
      ->ArgsProduct({{0, 1}, {1, 2}})
      ->UseRealTime()
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_Vgg32Forward)->Apply(Settings);
BENCHMARK(BM_Vgg32TrainStep)->Apply(Settings);
BENCHMARK(BM_OsrciCnnForward)->Apply(Settings);
BENCHMARK(BM_OsrciCnnTrainStep)->Apply(Settings);

}  // namespace
}  // namespace openset
