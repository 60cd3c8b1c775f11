// Loss terms, forward and backward, at batch 128 with 6 and 100 classes, compared with a training step of vgg32.
//
// The step's arithmetic is 3 (forward, two gradients) x 128 images of 3x32x32 x 164.6e6 multiply-adds. The counter
// `percent_of_step` is the term's time as a percentage of the time of that many multiply-adds in products of large
// matrices. It is an upper bound of the term's share, because a real step is slower.
#include <algorithm>
#include <chrono>
#include <string>

#include "benchmark/benchmark.h"
#include "core/proto/proto_rules.h"
#include "core/random.h"
#include "core/tensor/testing/draw_open_set.h"
#include "core/tensor/torch.h"
#include "experiments/train/open_set/open_set_members.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

constexpr int64_t kBatch = 128;
constexpr int64_t kFeatures = 128;
constexpr int64_t kTrainingSamples = 50000;
constexpr double kStepMultiplyAdds = 3 * kBatch * 164.6e6;

constexpr const char* kTerms[] = {
    "cross_entropy {}",
    "cross_entropy { label_smoothing: 0.3 }",
    "open_auc {}",
    "open_auc { pairs: ALL }",
    "open_auc { pairs: ALL surrogate: HINGE }",
    "open_auc { pairs: ALL surrogate: LOGISTIC }",
    "outlier_exposure {}",
    "energy_margin {}",
    "crl_ranking {}",
    "evidential { kl_annealing_epochs: 0 }",
    "arpl {}",
    "confusing_samples {}",
    "jsd_consistency {}",
};

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The time of one multiply-add in a product of two 1536 x 1536 matrices in f32: the fastest of 10 after a warm-up.
double SecondsPerMultiplyAdd() {
  const int64_t n = 1536;
  const at::Tensor a = at::rand({n, n}), b = at::rand({n, n});
  double fastest = 1e9;
  for (int repeat = 0; repeat <= 10; ++repeat) {
    const double start = Seconds();
    const at::Tensor product = a.matmul(b);
    if (repeat > 0) fastest = std::min(fastest, Seconds() - start);
  }
  return fastest / (n * n * n);
}

ModelOutput RandomOutput(int64_t classes) {
  return {{},
          at::randn({kBatch, classes}).set_requires_grad(true),
          at::rand({kBatch, classes}).set_requires_grad(true),
          {}};
}

void Run(benchmark::State& state, const std::string& spec) {
  static const double step_seconds = kStepMultiplyAdds * SecondsPerMultiplyAdd();
  const int64_t classes = state.range(0);
  at::manual_seed(1);
  LossScene scene;
  scene.known = RandomOutput(classes);
  scene.batch.label = scene.known.logits.argmax(1);
  scene.batch.sample = at::arange(kBatch);
  scene.open = {RandomOutput(classes), at::arange(kBatch), at::ones({kBatch})};
  scene.history = {at::randint(10, {kTrainingSamples}, at::kLong), 10};
  scene.views = {RandomOutput(classes), RandomOutput(classes)};
  const std::unique_ptr<LossTerm> term = MakeTerm(spec);
  const double start = Seconds();
  for (auto _ : state) term->Compute(scene.Input()).backward();
  state.counters["percent_of_step"] = 100 * (Seconds() - start) / state.iterations() / step_seconds;
}

FeatureMixupSpec MixupSpec() {
  FeatureMixupSpec spec;
  FillDefaults(&spec);
  return spec;
}

// OpenAUC as in its method: the features of a batch are mixed, pass the head, and are paired.
void RunWithMixup(benchmark::State& state) {
  static const double step_seconds = kStepMultiplyAdds * SecondsPerMultiplyAdd();
  const int64_t classes = state.range(0);
  at::manual_seed(1);
  const at::Tensor weight = at::randn({classes, kFeatures}).set_requires_grad(true);
  const auto head = [&](const at::Tensor& feature) {
    return ModelOutput{feature, at::mm(feature, weight.t()), {}, {}};
  };
  const ModelOutput known = head(at::randn({kBatch, kFeatures}).set_requires_grad(true));
  // Its own leaf, so that the backward pass of the head for the batch, which any method has, is not counted.
  const ModelOutput leaf{known.feature, known.logits.detach().set_requires_grad(true), {}, {}};
  Batch batch;
  batch.label = leaf.logits.argmax(1);
  RandomStream random(1, "open_set");
  const std::unique_ptr<OpenSetSource> source = *Make(MixupSpec(), {});
  const std::unique_ptr<LossTerm> term = MakeTerm("open_auc {}");
  const double start = Seconds();
  for (auto _ : state) {
    CHECK(DrawOpenSet(source.get(), &random, &batch).ok());
    const OpenSet open = source->Make({batch, leaf, leaf, /*forward=*/{}, head, /*objective=*/{}});
    LossInput input{batch, leaf};
    input.open = &open;
    term->Compute(input).backward();
  }
  state.counters["percent_of_step"] = 100 * (Seconds() - start) / state.iterations() / step_seconds;
}
BENCHMARK(RunWithMixup)->Name("open_auc {} with feature_mixup {}")->Arg(6)->Arg(100)->Unit(benchmark::kMicrosecond);

[[maybe_unused]] const bool registered = [] {
  for (const char* spec : kTerms) {
    benchmark::RegisterBenchmark(spec, Run, spec)->Arg(6)->Arg(100)->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
}  // namespace openset
