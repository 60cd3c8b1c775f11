// Time and peak memory of expanding and planning a study. Target: linear in the number of trials.
#include <fstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "benchmark/benchmark.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/files/temporary_folder.h"
#include "core/logging.h"
#include "data/catalog.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/spec/resolve/expand.h"

namespace openset {
namespace {

// The peak memory of the process in MB, since the last reset.
void ResetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }
double PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    absl::string_view text = line;
    int64_t kilobytes = 0;
    if (absl::ConsumePrefix(&text, "VmHWM:") && absl::SimpleAtoi(absl::StripSuffix(text, " kB"), &kilobytes)) {
      return static_cast<double>(kilobytes) / 1024;
    }
  }
  return 0;
}

void ExpandAndPlan(benchmark::State& state, const std::string& spec) {
  const TemporaryFolder folder = TemporaryFolder::Make("plan_benchmark").value();
  const std::string path = JoinPath(folder.path(), "spec.textproto");
  CHECK(WriteFileAtomically(path, spec).ok());
  const absl::StatusOr<Experiment> experiment =
      LoadExperiment(path, SpecFoldersBelow(JoinPath(RunfilesFolder().value(), "openset")));
  CHECK(experiment.ok()) << experiment.status();
  const Store store("/nowhere");
  ResetPeakMemory();
  for (auto _ : state) {
    auto trials = Expand(*experiment);
    CHECK(trials.ok()) << trials.status();
    const Plan plan = MakePlan(*std::move(trials), store, [&](const Selection& selection) {
      return CountSamples(selection, experiment->catalog).value();
    });
    state.counters["trials"] = static_cast<double>(plan.trials.size());
    state.counters["actions"] = static_cast<double>(plan.actions.size());
  }
  state.counters["peak_MB"] = PeakMemory();
}

// Eight methods, five splits and many seeds: each trial has its own training.
void Seeds(benchmark::State& state) {
  std::string spec =
      "name: 'spec' task: 'fashion_mnist_6_4' split: [0, 1, 2, 3, 4] metric { auroc {} } metric { openauc {} } "
      "method: ['softmax', 'openauc', 'openauc_hinge', 'arpl', 'crl', 'mcp', 'openmax', 'augmix'] seed: [0";
  for (int64_t seed = 1; seed < state.range(0) / 40; ++seed) absl::StrAppend(&spec, ", ", seed);
  ExpandAndPlan(state, spec + "]");
}

// A grid over one method, two seeds: the last axis needs no further trainings.
void Grid(benchmark::State& state) {
  std::string spec =
      "name: 'spec' task: 'fashion_mnist_6_4' split: [0, 1, 2, 3, 4] metric { auroc {} } metric { openauc {} } "
      "method: 'react' seed: [0, 1] axis { path: 'training.optimizer.learning_rate' value: ['1'";
  for (int64_t value = 1; value < state.range(0) / 1000; ++value) absl::StrAppend(&spec, ", '0.", 1000 + value, "'");
  absl::StrAppend(&spec, "] } axis { path: 'score.react.clip' value: ['1'");
  for (int value = 2; value <= 100; ++value) absl::StrAppend(&spec, ", '", value, "'");
  ExpandAndPlan(state, spec + "] }");
}

BENCHMARK(Seeds)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Grid)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
