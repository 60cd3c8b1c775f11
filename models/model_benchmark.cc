// Images per second of networks on the CPU: the forward pass, in the training layout and in the contiguous one.
// `bazel run //models:model_benchmark`; //experiments/train:step_benchmark measures training steps.
#include <memory>

#include "benchmark/benchmark.h"
#include "core/process/heap.h"
#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/tensor/torch.h"
#include "core/tensor/torch_generator.h"
#include "core/tensor/torch_runtime.h"
#include "models/initialise.h"
#include "models/make_model.h"

namespace openset {
namespace {

constexpr int kNumClasses = 6;

// A network and its images.
struct Case {
  ModelSpec spec;
  int size = 32;
  int batch_size = 128;
};

struct Setting {
  std::shared_ptr<Model> model;
  at::Tensor image;
};

Setting MakeSetting(const Case& what, const benchmark::State& state) {
  KeepFreedMemory();
  at::set_num_threads(state.range(1));
  ModelSpec spec = what.spec;
  spec.mutable_head()->mutable_linear();
  FillDefaults(&spec);
  InputSpec input;
  input.set_size(what.size);
  FillDefaults(&input);
  RandomStream random(1, "model_benchmark");
  Setting setting;
  setting.model = *MakeModel(spec, input, kNumClasses, &random);
  setting.model->SetGenerator(MakeGenerator(at::kCPU, 1));
  setting.image = at::empty({what.batch_size, input.channels(), input.size(), input.size()});
  DrawNormal(0, 1, &random, setting.image);
  if (state.range(0) == 1) {
    setting.image = setting.image.contiguous(at::MemoryFormat::ChannelsLast);
  } else {
    for (at::Tensor& parameter : setting.model->parameters()) parameter.set_data(parameter.detach().contiguous());
  }
  return setting;
}

void Forward(const Case& what, benchmark::State& state) {
  Setting setting = MakeSetting(what, state);
  setting.model->eval();
  const at::NoGradGuard no_grad;
  for (auto _ : state) benchmark::DoNotOptimize(setting.model->Forward(setting.image).logits);
  state.SetItemsProcessed(state.iterations() * what.batch_size);
}

Case Vgg32() {
  Case what;
  what.spec.mutable_vgg32();
  return what;
}

Case OsrciCnn() {
  Case what;
  what.spec.mutable_osrci_cnn();
  return what;
}

Case Resnet50() {
  Case what;
  what.spec.mutable_resnet_imagenet();
  what.size = 224;
  what.batch_size = 8;
  return what;
}

void BM_Vgg32Forward(benchmark::State& state) { Forward(Vgg32(), state); }
void BM_OsrciCnnForward(benchmark::State& state) { Forward(OsrciCnn(), state); }
void BM_Resnet50Forward(benchmark::State& state) { Forward(Resnet50(), state); }

void Settings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"channels_last", "threads"})
      ->ArgsProduct({{0, 1}, {1, 2}})
      ->UseRealTime()
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_Vgg32Forward)->Apply(Settings);
BENCHMARK(BM_OsrciCnnForward)->Apply(Settings);
BENCHMARK(BM_Resnet50Forward)->Apply(Settings);

}  // namespace
}  // namespace openset
