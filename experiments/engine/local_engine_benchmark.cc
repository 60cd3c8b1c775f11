// Measures the orchestrator's overhead: the time per action in addition to its work, with warm workers and leases, and
// its CPU use while workers report their progress.
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "benchmark/benchmark.h"
#include "core/files/runfiles.h"
#include "core/files/temporary_folder.h"
#include "core/logging.h"
#include "core/machine/machine.h"
#include "core/process/steady_clock.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

// Counts events, and stops by a signal after a time.
class Observer : public EngineObserver {
 public:
  Observer(const Plan& plan, absl::Duration at_most) : progress_(plan), end_(SteadyNow() + at_most) {}
  void OnStart(ActionId action) override { progress_.Start(action); }
  void OnProgress(ActionId action, const WorkProgress& progress) override { progress_.Advance(action, progress); }
  void OnFinish(ActionId action, const absl::Status&) override { progress_.Finish(action); }
  void OnSkip(ActionId action) override { progress_.Skip(action); }
  void OnTick() override {
    if (SteadyNow() > end_) kill(getpid(), SIGINT);
  }
  void Describe(RunState* state) const override { progress_.Describe(state); }

 private:
  RunProgress progress_;
  const absl::Duration end_;
};

// Makes trials of one training, one inference and one evaluation each, with consecutive seeds from `first_seed` on.
Plan TrialsOf(const Store& store, int count, uint64_t first_seed) {
  std::vector<Trial> trials;
  for (int t = 0; t < count; ++t) {
    TrialSpec trial;
    trial.mutable_method()->mutable_training()->set_epochs(1);
    trial.mutable_execution()->set_threads(1);
    trial.set_seed(first_seed + t);
    trials.emplace_back(trial);
  }
  return MakePlan(std::move(trials), store, [](const Selection&) { return 1; });
}

struct Scene {
  explicit Scene(int slots) : store(folder.path() + "/store") {
    const std::string worker = *RunfilesFolder() + "/openset/experiments/testing/fake_worker";
    options.trainer = {worker};
    options.evaluator = {worker};
    options.capacity.cpu_threads = slots;
    leases = *Leases::Begin(store);
    execute.leases = leases.get();
  }
  ~Scene() { leases.reset(); }

  const TemporaryFolder folder = TemporaryFolder::Make("engine_benchmark").value();
  const Store store;
  LocalEngineOptions options;
  std::unique_ptr<Leases> leases;
  ExecuteOptions execute;
};

void BM_TinyActions(benchmark::State& state) {
  const int trials = static_cast<int>(state.range(0));
  int64_t actions = 0;
  double cpu = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Scene scene(2);
    LocalEngine engine(scene.store, scene.options);
    const Plan warm_up = TrialsOf(scene.store, 4, 1000);
    Observer none(warm_up, absl::Hours(1));
    CHECK(ExecutePlan(warm_up, nullptr, scene.store, scene.execute, &engine, &none).ok());
    const Plan plan = TrialsOf(scene.store, trials, 2000);
    Observer observer(plan, absl::Hours(1));
    const double before = CpuSeconds();
    state.ResumeTiming();
    CHECK(ExecutePlan(plan, nullptr, scene.store, scene.execute, &engine, &observer).ok());
    state.PauseTiming();
    cpu += CpuSeconds() - before;
    actions += 3 * trials;
    state.ResumeTiming();
  }
  state.counters["ms_per_action"] = benchmark::Counter(static_cast<double>(actions) / 1000,
                                                       benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["cpu_ms_per_action"] = 1000 * cpu / static_cast<double>(actions);
}
BENCHMARK(BM_TinyActions)->Arg(300)->Arg(10000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

// Ends each action at the next wait.
class InstantEngine : public Engine {
 public:
  InstantEngine() { capacity_.cpu_threads = 64; }
  const Capacity& capacity() const override { return capacity_; }
  absl::Status Start(ActionId action, int /*gpu*/, WorkRequest /*request*/) override {
    running_.push_back(action);
    return absl::OkStatus();
  }
  std::vector<EngineEvent> Wait(int /*wake*/, absl::Duration /*at_most*/) override {
    std::vector<EngineEvent> events;
    for (const ActionId action : running_) events.emplace_back(EngineEvent{action}).end = absl::OkStatus();
    running_.clear();
    return events;
  }
  void AskToStop(ActionId /*action*/) override {}
  void Kill(ActionId /*action*/) override {}
  void KillAll() override { running_.clear(); }

 private:
  Capacity capacity_;
  std::vector<ActionId> running_;
};

// The overhead if workers need no time. Target: a trial out of 100,000 costs at most 1.2 times one out of 10,000.
void BM_WithoutWorkers(benchmark::State& state) {
  const Store store("/nowhere");
  const int trials = static_cast<int>(state.range(0));
  const Plan plan = TrialsOf(store, trials, 2000);
  for (auto _ : state) {
    InstantEngine engine;
    Observer observer(plan, absl::Hours(1));
    CHECK(ExecutePlan(plan, nullptr, store, ExecuteOptions(), &engine, &observer).ok());
  }
  state.counters["us_per_trial"] =
      benchmark::Counter(static_cast<double>(trials) * static_cast<double>(state.iterations()) / 1e6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_WithoutWorkers)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond)->UseRealTime();

// Trainings that report 100 times a second and never end, for ten seconds.
void BM_ShareOfACore(benchmark::State& state) {
  double share = 0;
  for (auto _ : state) {
    Scene scene(static_cast<int>(state.range(0)));
    LocalEngine engine(scene.store, scene.options);
    std::vector<Trial> trials;
    for (int t = 0; t < state.range(0); ++t) {
      TrialSpec trial;
      trial.mutable_method()->mutable_training()->set_epochs(1 + t);
      trial.mutable_execution()->set_threads(1);
      trial.set_seed(104);  // fake_worker.cc's
      trials.emplace_back(trial);
    }
    const Plan plan = MakePlan(std::move(trials), scene.store, [](const Selection&) { return 1; });
    Observer observer(plan, absl::Seconds(10));
    const double cpu = CpuSeconds();
    const absl::Duration start = SteadyNow();
    CHECK(absl::IsCancelled(ExecutePlan(plan, nullptr, scene.store, scene.execute, &engine, &observer)));
    share = (CpuSeconds() - cpu) / absl::ToDoubleSeconds(SteadyNow() - start);
  }
  state.counters["percent_of_a_core"] = 100 * share;
}
BENCHMARK(BM_ShareOfACore)->Arg(2)->Arg(16)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace openset
