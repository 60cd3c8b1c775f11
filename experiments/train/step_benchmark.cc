#include "core/tensor/torch.h"
// core/tensor/torch.h comes first, because core/logging.h replaces its macros.
// Images per second of trainings on the CPU: steps of TrainingRun itself, on random images in memory, with batches made
// during the steps as in every training. `bazel run //experiments/train:step_benchmark`;
// tools/peers/train_step_peer.py compares with PyTorch.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "core/logging.h"
#include "core/process/heap.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "data/catalog.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/store.h"
#include "experiments/train/probe.h"
#include "experiments/worker/action_context.h"
#include "experiments/worker/worker.proto.h"

namespace openset {
namespace {

// The steps of a repetition, in addition to its first.
constexpr double kSeconds = 1.5;

TrainAction ActionOf(absl::string_view network, absl::string_view precision, absl::string_view augmentation,
                     int64_t threads) {
  TrainAction action;
  const auto parsed = ParseTextProto(absl::StrCat("model { ", network, R"( head { linear { bias: true } } }
                   input { size: 32 channels: 3 }
                   loss { term { cross_entropy {} } }
                   training {
                     epochs: 1
                     batch_size: 128
                     optimizer { learning_rate: 0.01 weight_decay: 1e-4 sgd { momentum: 0.9 } }
                     schedule { constant {} }
                   }
                   data { data_set: "random" part: "train" class_id: [0, 1, 2, 3, 4, 5] }
                   seed: 0
                   execution { threads: )",
                                                  threads, " precision: ", precision, " } ", augmentation),
                                     "step_benchmark", &action);
  CHECK(parsed.ok()) << parsed.status();
  FillDefaults(&action);
  return action;
}

void TrainStep(benchmark::State& state, const std::string& network, const std::string& precision,
               const std::string& augmentation) {
  KeepFreedMemory();
  ProbeAction probe;
  *probe.mutable_train() = ActionOf(network, precision, augmentation, state.range(0));
  probe.set_seconds(kSeconds);
  ImageCache images(Catalog({}), {});
  double images_per_second = 0;
  const ActionContext context{
      "0",      {},      Store(""),
      at::kCPU, &images, [&](const WorkProgress& progress) { images_per_second = progress.images_per_second(); }};
  for (auto _ : state) {
    const absl::Status status = Probe(probe, context);
    CHECK(status.ok()) << status;
    state.SetIterationTime(1 / images_per_second);
  }
  state.counters["images_per_second"] = images_per_second;
}

constexpr char kCropAndFlip[] = "augmentation { random_crop { padding: 4 } } augmentation { horizontal_flip {} }";
constexpr char kRandAugment[] =
    "augmentation { rand_augment { ops: 1 magnitude: 9 } } augmentation { random_crop { padding: 4 } } "
    "augmentation { horizontal_flip {} }";

void Settings(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("threads")->Arg(1)->Arg(2)->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond);
}

BENCHMARK_CAPTURE(TrainStep, osrci_cnn, "osrci_cnn {}", "FP32", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, osrci_cnn_bf16, "osrci_cnn {}", "BF16", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, resnet20, "resnet_cifar { variant: RESNET20 }", "FP32", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, resnet20_bf16, "resnet_cifar { variant: RESNET20 }", "BF16", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, vgg32, "vgg32 {}", "FP32", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, vgg32_bf16, "vgg32 {}", "BF16", "")->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, osrci_cnn_crop_flip, "osrci_cnn {}", "FP32", kCropAndFlip)->Apply(Settings);
BENCHMARK_CAPTURE(TrainStep, osrci_cnn_rand_augment, "osrci_cnn {}", "FP32", kRandAugment)->Apply(Settings);

}  // namespace
}  // namespace openset
