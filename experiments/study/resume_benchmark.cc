// How long a study takes to go on where all is done: 100,000 trials, each with its record. `Rebuild` reads every
// record, as on a machine that has not seen the store; `Resume` has the index that the last time left; `Status` looks
// at what is at work and damaged besides.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/files/system_calls.h"
#include "core/logging.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/store/store.h"
#include "experiments/study/failures.h"
#include "experiments/study/study.h"

namespace openset {
namespace {

// Records that need not survive a power cut.
class WithoutSync : public SystemCalls {
 public:
  int Sync(int /*fd*/, SyncOf /*what*/) override { return 0; }
};

// A grid over one method: 20 trainings, of which each has 5,000 scores.
std::string Spec(int64_t trials) {
  std::string spec =
      "name: 'spec' task: 'fashion_mnist_6_4' split: [0, 1, 2, 3, 4] metric { auroc {} } metric { openauc {} } "
      "method: 'react' seed: [0, 1, 2, 3] axis { path: 'score.react.clip' value: ['1'";
  for (int64_t value = 2; value <= trials / 20; ++value) absl::StrAppend(&spec, ", '", value, "'");
  return spec + "] }";
}

struct Scene {
  ~Scene() { std::filesystem::remove_all(folder); }

  std::string folder;
  std::unique_ptr<Store> store;
};

const Scene& SceneOf(int64_t trials) {
  static Scene of_process;
  Scene* const scene = &of_process;
  if (scene->store != nullptr) return *scene;
  scene->folder = TemporaryName("/tmp/resume_benchmark");
  CHECK(MakeFolders(scene->folder).ok());
  setenv("HOME", scene->folder.c_str(), 1);
  CHECK(WriteFileAtomically(scene->folder + "/spec.textproto", Spec(trials)).ok());
  scene->store = std::make_unique<Store>(scene->folder + "/store");
  WithoutSync calls;
  const ScopedSystemCalls scope(&calls);
  const auto study = Study::Load(scene->folder + "/spec.textproto",
                                 SpecFoldersBelow(JoinPath(RunfilesFolder().value(), "openset")), *scene->store);
  CHECK(study.ok()) << study.status();
  const Plan& plan = (*study)->plan();
  for (size_t t = 0; t < plan.trials.size(); ++t) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(plan.trial_id(static_cast<int>(t)));
    *record.mutable_trial() = plan.trials[t].Spec();
    for (const MetricSpec& metric : record.trial().metric()) *record.add_metric()->mutable_spec() = metric;
    for (const PlanNode* node = &plan.nodes[plan.trial_nodes[t]]; node != nullptr;
         node = node->inputs.empty() ? nullptr : &plan.nodes[node->inputs[0]]) {
      StageProvenance* stage = record.mutable_provenance()->add_stage();
      stage->set_stage(StageProvenance::EVALUATE);
      stage->set_key(node->key);
      stage->set_host("a machine with a name");
      for (const char* name : {"react", "auroc", "openauc"}) {
        ComponentProvenance* component = stage->add_component();
        component->set_family("ScoreSpec");
        component->set_name(name);
        component->set_fingerprint(Sha256Hex(name));  // the sources are those of one program
      }
    }
    CHECK(scene->store->CommitRecord(record).ok());
  }
  // What was written just now is not remembered.
  sleep(FileState::kSettled + 1);
  return *scene;
}

std::unique_ptr<Study> Load(const Scene& scene) {
  auto study = Study::Load(scene.folder + "/spec.textproto",
                           SpecFoldersBelow(JoinPath(RunfilesFolder().value(), "openset")), *scene.store);
  CHECK(study.ok()) << study.status();
  CHECK_EQ((*study)->plan().CountNeeded(ActionKind::kEvaluate), 0);
  return *std::move(study);
}

void Rebuild(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  std::filesystem::remove_all(scene.folder + "/.cache");
  for (auto _ : state) CHECK(Load(scene)->SourceLines().ok());
}

void Resume(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  for (auto _ : state) CHECK(Load(scene)->SourceLines().ok());
}

void Status(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  for (auto _ : state) {
    const std::unique_ptr<Study> study = Load(scene);
    CHECK(study->Damaged().empty());
    benchmark::DoNotOptimize(FailuresOf(*study).size());
  }
}

BENCHMARK(Rebuild)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Resume)->Arg(100000)->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(Status)->Arg(100000)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
