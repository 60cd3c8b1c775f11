// 10,000 replicates of AUROC, OpenAUC, AURC and FPR@95TPR at 33,640 samples (the pool of the unknown-detection
// benchmark on CIFAR: 4,000 known, 29,640 unknown). Target: under 5 s on 2 cores.

#include "benchmark/benchmark.h"
#include "eval/statistics/bootstrap.h"

namespace openset {
namespace {

void BM_Bootstrap(benchmark::State& state) {
  const int64_t n = 33640;
  const int64_t known = state.range(1);
  RandomStream random(1, "benchmark");
  std::vector<double> score(n);
  std::vector<int32_t> prediction(n), label(n);
  for (int64_t i = 0; i < n; ++i) {
    label[i] = i < known ? static_cast<int32_t>(random.Below(40)) : kUnknownLabel;
    prediction[i] = i < known && random.Uniform() < 0.75 ? label[i] : static_cast<int32_t>(random.Below(40));
    score[i] = random.Normal() + (i < known ? 0 : 1);
  }
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = 40;
  const RankedInput ranked(EvaluationInput::Create(arrays).value());
  std::vector<MetricSpec> metrics(4);
  metrics[0].mutable_auroc();
  metrics[1].mutable_openauc();
  state.range(2) == 0 ? static_cast<void>(metrics[2].mutable_aurc())
                      : static_cast<void>(metrics[2].mutable_pooled_aurc());
  metrics[3].mutable_fpr_at_95tpr();
  BootstrapOptions options;
  options.replicates = 10000;
  options.method = state.range(3) == 0 ? IntervalMethod::kPercentile : IntervalMethod::kBca;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(BootstrapIntervals(metrics, ranked, options));
}
BENCHMARK(BM_Bootstrap)
    ->ArgNames({"threads", "known", "pooled", "bca"})
    ->Args({1, 4000, 0, 0})
    ->Args({2, 4000, 0, 0})
    ->Args({2, 4000, 1, 1})
    ->Args({2, 16820, 0, 1})
    ->Args({2, 33000, 0, 0})
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->Iterations(1);

}  // namespace
}  // namespace openset
