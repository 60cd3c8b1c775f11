// All scalar metrics of one input of 1,000,000 samples against one std::sort of its scores, in the same run.
// Target: ratio_to_std_sort <= 3, peak_over_input <= 4.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "benchmark/benchmark.h"
#include "core/random.h"
#include "eval/metrics/conventions.h"
#include "eval/metrics/evaluate.h"

namespace {

std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

}  // namespace

__attribute__((noinline)) void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const int64_t live = live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  if (live > peak_bytes) peak_bytes = live;
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace openset {
namespace {

// The CPU time of this thread, so that other work on the machine does not count.
double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void BM_AllMetrics(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int32_t classes = static_cast<int32_t>(state.range(1));
  const int64_t steps = state.range(2);  // scores are multiples of 1 / steps; 0: no ties
  RandomStream random(1, "benchmark");
  std::vector<double> score(n);
  std::vector<int32_t> prediction(n), label(n);
  for (int64_t i = 0; i < n; ++i) {
    const bool known = random.Uniform() < 0.5;
    label[i] = known ? static_cast<int32_t>(random.Below(classes)) : kUnknownLabel;
    prediction[i] = known && random.Uniform() < 0.8 ? label[i] : static_cast<int32_t>(random.Below(classes));
    score[i] = random.Normal() + (known ? 0 : 1.5);
    if (steps > 0) score[i] = static_cast<double>(static_cast<int64_t>(score[i] * steps)) / steps;
  }
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = classes;
  const EvaluationInput input = EvaluationInput::Create(arrays).value();
  const std::vector<MetricSpec> metrics = AllMetrics();

  double sort_seconds = 1e9;
  double evaluate_seconds = 1e9;
  int64_t peak = 0;
  for (auto _ : state) {
    std::vector<double> copy = score;
    double begin = CpuSeconds();
    std::sort(copy.begin(), copy.end());
    sort_seconds = std::min(sort_seconds, CpuSeconds() - begin);
    benchmark::DoNotOptimize(copy.data());
    copy = std::vector<double>();

    const int64_t before = live_bytes;
    peak_bytes = before;
    begin = CpuSeconds();
    benchmark::DoNotOptimize(Evaluate(metrics, input));
    evaluate_seconds = std::min(evaluate_seconds, CpuSeconds() - begin);
    peak = peak_bytes - before;
  }
  state.counters["std_sort_ms"] = 1e3 * sort_seconds;
  state.counters["evaluate_ms"] = 1e3 * evaluate_seconds;
  state.counters["ratio_to_std_sort"] = evaluate_seconds / sort_seconds;
  const int64_t bytes = n * static_cast<int64_t>(sizeof(double) + 2 * sizeof(int32_t));
  state.counters["peak_over_input"] = static_cast<double>(bytes + peak) / bytes;
}
BENCHMARK(BM_AllMetrics)
    ->ArgNames({"samples", "classes", "steps"})
    ->Args({1000000, 100, 0})
    ->Args({1000000, 100, 1000})
    ->Args({1000000, 10, 0})
    ->Unit(benchmark::kMillisecond);

// One metric on an existing ranking.
void BM_Metric(benchmark::State& state) {
  const MetricSpec metric = AllMetrics()[state.range(0)];
  const int64_t n = 1000000;
  RandomStream random(1, "benchmark");
  std::vector<double> score(n);
  std::vector<int32_t> prediction(n), label(n);
  for (int64_t i = 0; i < n; ++i) {
    label[i] = static_cast<int32_t>(random.Below(101)) - 1;
    prediction[i] = std::max(label[i], 0);
    if (label[i] > 50) label[i] = kUnknownLabel;
    score[i] = random.Normal();
  }
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = 100;
  const RankedInput ranked(EvaluationInput::Create(arrays).value());
  for (auto _ : state) benchmark::DoNotOptimize(Evaluate({metric}, ranked));
  state.SetLabel(metric.ShortDebugString());
}
BENCHMARK(BM_Metric)->DenseRange(0, 27)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
