// The scheduler on random graphs of trials: each is a training, an inference and an evaluation, and every tenth
// training is the start of two other trainings. Target: time per event at 10^6 nodes within a few times that at 10^4
// (caches, log n).

#include "benchmark/benchmark.h"
#include "core/random.h"
#include "experiments/engine/scheduler.h"

namespace openset {
namespace {

Capacity Machine() {
  Capacity capacity;
  capacity.cpu_threads = 64;
  capacity.gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  capacity.shares_per_gpu = 4;
  capacity.memory_mb = 256 * 1024;
  return capacity;
}

void AddTrials(int nodes, Scheduler* scheduler) {
  RandomStream random(1, "trials");
  ActionId start = kNoAction;  // of the next trainings
  int size = 0;
  const auto add = [&](const Demand& demand, const Priority& priority, const std::vector<ActionId>& inputs) {
    const ActionId id{size++};
    scheduler->Add(id, demand, priority, inputs);
    return id;
  };
  for (int trial = 0; size + 3 <= nodes; ++trial) {
    const Demand train = random.Below(2) == 0 ? Demand{0, 1, 4000} : Demand{4, 0, 4000};
    std::vector<ActionId> inputs;
    if (start != kNoAction && trial % 10 != 0 && trial % 10 < 3) inputs.push_back(start);
    const ActionId trained = add(train, {0, static_cast<int64_t>(random.Below(1000000))}, inputs);
    if (trial % 10 == 0) start = trained;
    const ActionId inferred = add(train, {1, static_cast<int64_t>(random.Below(10000))}, {trained});
    add({1, 0, 500}, {2, 0}, {inferred});
  }
}

// An event is a start or an end.
void BM_Scheduler(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  int64_t done = 0;
  for (auto _ : state) {
    Scheduler scheduler(Machine());
    AddTrials(nodes, &scheduler);
    std::vector<ActionId> running;
    RandomStream random(2, "ends");
    while (true) {
      while (const auto start = scheduler.Next()) running.push_back(start->action);
      if (running.empty()) break;
      std::swap(running[random.Below(running.size())], running.back());
      scheduler.Finished(running.back());
      running.pop_back();
      ++done;
    }
  }
  state.counters["nodes/s"] = benchmark::Counter(static_cast<double>(done), benchmark::Counter::kIsRate);
  state.counters["s/event"] =
      benchmark::Counter(2 * static_cast<double>(done), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Scheduler)->Arg(10000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
