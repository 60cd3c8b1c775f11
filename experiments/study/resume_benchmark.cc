// The time to continue a complete study of 100,000 trials, each with its record. `Resume` reads every record, as each
// `openset run` does. `Status` also looks for running actions and corrupt results. `Results` reads the input of a
// report and shows its memory; `Tables` makes its numbers; `Page` makes its page. `Fields` reads the fields that
// `openset records ls` lists, and `FieldsOfBundle` those of a bundle with the same records.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/files/system_calls.h"
#include "core/files/temporary_folder.h"
#include "core/logging.h"
#include "eval/metrics/metric.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/report/html_report.h"
#include "experiments/store/bundle.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store.h"
#include "experiments/store/store_contents.h"
#include "experiments/study/failures.h"
#include "experiments/study/study.h"

namespace openset {
namespace {

// Records that need not survive a power cut.
class WithoutSync : public SystemCalls {
 public:
  int Sync(int /*fd*/, SyncOf /*what*/) override { return 0; }
};

// A grid over one method: 20 trainings with 5,000 scores each.
std::string Spec(int64_t trials) {
  std::string spec =
      "name: 'spec' task: 'fashion_mnist_6_4' split: [0, 1, 2, 3, 4] metric { auroc {} } metric { openauc {} } "
      "method: 'react' seed: [0, 1, 2, 3] axis { path: 'score.react.clip' value: ['1'";
  for (int64_t value = 2; value <= trials / 20; ++value) absl::StrAppend(&spec, ", '", value, "'");
  return spec + "] }";
}

// As large as a record of 10,000 test samples: 10 kB.
TrialDetails Details() {
  TrialDetails details;
  for (const auto kind : {RecordedCurve::ROC, RecordedCurve::OSCR, RecordedCurve::RISK_COVERAGE}) {
    RecordedCurve* curve = details.add_curve();
    curve->set_kind(kind);
    for (int i = 0; i <= 128; ++i) {
      curve->add_x(static_cast<float>(i) / 128);
      curve->add_y(std::sqrt(static_cast<float>(i) / 128));
    }
  }
  for (const auto kind : {ScoreCounts::KNOWN_RIGHT, ScoreCounts::KNOWN_WRONG, ScoreCounts::UNKNOWN}) {
    ScoreCounts* series = details.mutable_density()->add_series();
    series->set_kind(kind);
    for (int i = 0; i < 50; ++i) series->add_count(100 + i);
  }
  for (int c = 0; c < 10; ++c) {
    DecisionTable* table = details.mutable_decisions();
    ClassDecisions* row = c < 6 ? table->add_known() : table->add_unknown();
    row->set_class_id(c);
    row->set_samples(1000);
    row->set_right(c < 6 ? 900 : 0);
    for (int predicted = 0; predicted < 6; ++predicted) {
      Confusion* cell = table->add_confusion();
      cell->set_actual(c < 6 ? c : 5 - c);
      cell->set_predicted(predicted);
      cell->set_samples(100 + predicted);
    }
  }
  for (int i = 0; i < 72; ++i) {
    Mistake* mistake = details.add_mistake();
    mistake->set_kind(Mistake::WRONG_CLASS);
    mistake->set_row(100 * i);
    mistake->set_unknown_score(0.5 * i);
    mistake->set_class_id(i % 10);
    mistake->set_predicted_label(i % 6);
  }
  return details;
}

struct Scene {
  const TemporaryFolder temporary = TemporaryFolder::Make("resume_benchmark").value();
  std::string folder;
  std::unique_ptr<Store> store;
};

const Scene& SceneOf(int64_t trials) {
  static std::map<int64_t, Scene> of_process;
  Scene* const scene = &of_process[trials];
  scene->folder = scene->temporary.path();
  setenv("HOME", scene->folder.c_str(), 1);
  if (scene->store != nullptr) return *scene;
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
    for (const MetricSpec& spec : record.trial().metric()) {
      MetricRecord* metric = record.add_metric();
      metric->set_name(MetricName(spec));
      metric->set_value(static_cast<double>(t * 7919 % 100000) / 100000);
      metric->mutable_group()->set_kind(MetricGroup::POOL);
      *metric->mutable_spec() = spec;
    }
    record.mutable_counts()->set_known(6000);
    record.mutable_counts()->set_unknown(4000);
    for (int epoch = 0; epoch < 5; ++epoch) {
      record.add_epoch()->set_epoch(epoch);
      record.mutable_epoch(epoch)->set_loss(2.0 - 0.1 * epoch);
      record.mutable_epoch(epoch)->set_train_accuracy(0.5 + 0.1 * epoch);
    }
    *record.mutable_details() = Details();
    const Action& inference = plan[plan[plan.evaluations[t]].inputs[0]];
    record.set_outputs_key(inference.key);
    record.set_checkpoint_key(plan[inference.inputs[0]].key);
    for (const Action* action = &plan[plan.evaluations[t]]; action != nullptr;
         action = action->inputs.empty() ? nullptr : &plan[action->inputs[0]]) {
      StageProvenance* stage = record.mutable_provenance()->add_stage();
      stage->set_stage(StageProvenance::EVALUATE);
      stage->set_key(action->key);
      stage->set_host("a machine with a name");
      for (const char* name : {"react", "auroc", "openauc"}) {
        ComponentProvenance* component = stage->add_component();
        component->set_family("ScoreSpec");
        component->set_name(name);
        component->set_fingerprint(Sha256Hex(name));  // the same program for all
      }
    }
    CHECK(scene->store->CommitRecord(record).ok());
  }
  return *scene;
}

std::unique_ptr<Study> Load(const Scene& scene) {
  auto study = Study::Load(scene.folder + "/spec.textproto",
                           SpecFoldersBelow(JoinPath(RunfilesFolder().value(), "openset")), *scene.store);
  CHECK(study.ok()) << study.status();
  CHECK_EQ((*study)->plan().CountNeeded(ActionKind::kEvaluate), 0);
  return *std::move(study);
}

void Resume(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Load(scene)->SourceLines().size());
}

void Status(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  for (auto _ : state) {
    const std::unique_ptr<Study> study = Load(scene);
    CHECK(study->Damaged().empty());
    benchmark::DoNotOptimize(FailuresOf(*study).size());
  }
}

// Resident memory of this process.
double Megabytes() {
  const std::string pages = ReadFile("/proc/self/statm").value();  // total, then resident pages
  return std::strtod(pages.substr(pages.find(' ')).c_str(), nullptr) * static_cast<double>(getpagesize()) / 1e6;
}

void Results(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  const std::unique_ptr<Study> study = Load(scene);
  for (auto _ : state) {
    const double before = Megabytes();
    const std::unique_ptr<StudyResults> results = study->LoadResults();
    CHECK(results->results.back().record != nullptr);
    state.counters["MB"] = Megabytes() - before;
  }
}

void Tables(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  const std::unique_ptr<Study> study = Load(scene);
  const std::unique_ptr<StudyResults> results = study->LoadResults();
  for (auto _ : state) CHECK_EQ(study->MakeReport(*results).missing, 0);
}

void Page(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  const std::unique_ptr<Study> study = Load(scene);
  const std::unique_ptr<StudyResults> results = study->LoadResults();
  const Report report = study->MakeReport(*results);
  for (auto _ : state) {
    const auto page = HtmlReport(report, results->results, {});
    CHECK(page.ok()) << page.status();
    state.counters["MB"] = static_cast<double>(page->size()) / 1e6;
  }
}

void Fields(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  for (auto _ : state) {
    UnreadRecords unread;
    CHECK_EQ(LoadFields(*scene.store, &unread).size(), state.range(0));
  }
}

void FieldsOfBundle(benchmark::State& state) {
  const Scene& scene = SceneOf(state.range(0));
  const std::string path = scene.folder + "/bundle.zip";
  UnreadRecords unread;
  const auto written = WriteBundle(*scene.store, RecordIds(*scene.store, &unread), path);
  CHECK(written.ok()) << written.status();
  for (auto _ : state) {
    const double before = Megabytes();
    const auto bundle = OpenBundle(path, /*with_results=*/false, kNotInFields);
    CHECK(bundle.ok()) << bundle.status();
    CHECK_EQ(LoadFields(*bundle, &unread).size(), state.range(0));
    state.counters["MB"] = Megabytes() - before;
  }
}

BENCHMARK(Resume)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(3)->MeasureProcessCPUTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(Status)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(3)->MeasureProcessCPUTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(Fields)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(3)->Unit(benchmark::kMillisecond);
BENCHMARK(FieldsOfBundle)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Results)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Tables)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(Page)->Arg(1000)->Arg(10000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace openset
