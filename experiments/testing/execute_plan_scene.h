// For tests of ExecutePlan(): an engine that runs nothing, and an observer that stores the events.
#ifndef OPENSET_EXPERIMENTS_TESTING_EXECUTE_PLAN_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_EXECUTE_PLAN_SCENE_H_

#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/plan/planner.h"
#include "experiments/plan/search.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {

// The error of a refused start.
inline absl::Status NoFork() { return absl::UnavailableError("cannot fork: no memory"); }

// Runs nothing. Started actions end in order, one at each wait; those that were asked to stop end as if they had
// stopped.
class FakeEngine : public Engine {
 public:
  const Capacity& capacity() const override { return capacity_of; }

  absl::Status Start(ActionId action, int gpu, WorkRequest request) override {
    if (failing_starts.erase(static_cast<int>(started.size() + refused)) > 0 || refuse_all) {
      ++refused;
      return NoFork();
    }
    EXPECT_TRUE(keys.insert(request.key()).second) << "started twice";
    started.push_back(request);
    gpus.push_back(gpu);
    gpu_of[action] = gpu;
    running.push_back({action, request.key()});
    most_running = std::max(most_running, running.size());
    return absl::OkStatus();
  }

  std::vector<EngineEvent> Wait(int, absl::Duration) override {
    ++waits;
    if (waits == interrupt_at) raise(signal);
    if (on_wait) on_wait();
    if (held_back || running.empty()) return {};  // all actions wait for something else
    const auto [action, key] = running.front();
    running.pop_front();
    if (lost_gpus.count(gpu_of[action]) > 0) {
      keys.erase(key);
      EngineEvent lost{action};
      lost.end = absl::UnavailableError(absl::StrCat("GPU ", gpu_of[action], " is no longer used"));
      lost.gpu_is_lost = true;
      return {lost};
    }
    if (on_end) on_end(key);
    EngineEvent progress{action};
    progress.progress.emplace().set_fraction(0.5);
    EngineEvent end{action};
    end.end = failing_keys.count(key) > 0 ? failure : absl::OkStatus();
    if (fails_once.erase(key) > 0) end.end = absl::UnavailableError("its worker died");
    if (std::count(asked.begin(), asked.end(), action) > 0) end.end = absl::CancelledError("its state is saved");
    if (!end.end->ok()) {
      end.log_tail = "the log";
      keys.erase(key);
    }
    return {progress, end};
  }

  void GiveCpus(ActionId action, int cpu_slots) override { given.emplace_back(action, cpu_slots); }
  void AskToStop(ActionId action) override { asked.push_back(action); }
  void Kill(ActionId action) override {
    killed.push_back(action);
    const auto is_it = [action](const auto& entry) { return entry.first == action; };
    running.erase(std::find_if(running.begin(), running.end(), is_it));
  }
  void KillAll() override {
    killed_all = true;
    running.clear();
  }

  Capacity capacity_of;
  std::set<int> failing_starts;  // numbers of calls
  bool refuse_all = false;
  std::set<std::string> failing_keys;
  std::set<std::string> fails_once;  // with a failure that may be temporary
  absl::Status failure = absl::AbortedError("it failed");
  std::function<void(const std::string& key)> on_end;
  std::function<void()> on_wait;
  std::set<int> lost_gpus;  // no action begins on them
  bool held_back = false;   // no action ends
  int interrupt_at = -1;
  int signal = SIGINT;

  std::vector<WorkRequest> started;
  std::vector<int> gpus;
  std::map<ActionId, int> gpu_of;  // where the action was last started
  std::set<std::string> keys;
  std::vector<ActionId> asked, killed;
  std::vector<std::pair<ActionId, int>> given;  // CPU slots, while the actions ran
  std::deque<std::pair<ActionId, std::string>> running;
  size_t most_running = 0;
  size_t refused = 0;
  int waits = 0;
  bool killed_all = false;
};

class Observer : public EngineObserver {
 public:
  void OnBegin(const std::vector<std::string>& lines, const std::vector<RunState>& runs) override {
    quarantined = lines;
    for (const RunState& run : runs) others.push_back(run.id());
  }
  void OnStart(ActionId) override { ++starts; }
  void OnProgress(ActionId, const WorkProgress&) override { ++progress; }
  void OnFinish(ActionId id, const absl::Status& status) override {
    (status.ok() ? finished : failed).push_back(id);
    if (!status.ok()) failures.push_back(status);
  }
  void OnSkip(ActionId id) override { skipped.push_back(id); }
  void OnStartFailure(ActionId, const absl::Status& status) override { start_failures.push_back(status); }
  void OnGpuLost(ActionId, const absl::Status& why) override { lost_gpus.push_back(std::string(why.message())); }
  void OnGrowth(const std::vector<ActionId>& ids) override { added.insert(added.end(), ids.begin(), ids.end()); }
  void OnRetry(ActionId id, const absl::Status&, absl::Duration wait) override { retries.emplace_back(id, wait); }
  void OnElsewhere(ActionId id, const std::string& run_id, bool was_ours) override {
    elsewhere.push_back(absl::StrCat(static_cast<int>(id), " ", run_id, was_ours ? " was ours" : ""));
  }
  void Describe(RunState* state) const override { state->set_experiment("described"); }

  std::vector<std::pair<ActionId, absl::Duration>> retries;
  std::vector<std::string> quarantined, others, elsewhere, lost_gpus;
  std::vector<ActionId> added;
  int starts = 0, progress = 0;
  std::vector<ActionId> finished, failed, skipped;
  std::vector<absl::Status> failures, start_failures;
};

inline absl::StatusOr<std::vector<ActionId>> NoChoice(ActionId) { return absl::InternalError("no search was planned"); }

// A plan of method "plain" on split 0, with the additional fields `more`. Each selection has `samples` images.
inline Plan PlanInSandbox(const SpecSandbox& sandbox, const Store& store, const std::string& more,
                          int64_t samples = 1) {
  const absl::StatusOr<Experiment> experiment =
      sandbox.Load(absl::StrCat("name: 'spec' task: 'task' method: 'plain' split: 0 metric { accuracy {} } ", more));
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return MakePlan(*Expand(*experiment), store, [samples](const Selection&) { return samples; });
}

class ExecutePlanTest : public ::testing::Test {
 protected:
  ExecutePlanTest() : store_(sandbox_.folder() + "/store") {}

  Plan MakePlanOf(const std::string& more) const { return PlanInSandbox(sandbox_, store_, more, /*samples=*/10); }

  absl::Status Run(const Plan& plan) { return ExecutePlan(plan, NoChoice, store_, options_, &engine_, &observer_); }

  // "train", "infer" ... in the order in which they were started.
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const WorkRequest& request : engine_.started) {
      kinds.push_back(request.action().has_train() ? "train" : request.action().has_infer() ? "infer" : "evaluate");
    }
    return kinds;
  }

  // Plans a trial and its search among two candidates with two trainings. The engine commits records with these values
  // of the criterion.
  ActionId PlanSearch(Planner* planner, std::map<std::string, std::optional<double>>* criterion) {
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
    const absl::StatusOr<Experiment> experiment =
        sandbox_.Load(absl::StrCat(kMinimalSpec,
                                   "validation_per_class: 5 search { method: 'plain' axis { path: 'training.epochs' "
                                   "value: ['2', '3'] } criterion { aurc {} } }"));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    const std::vector<Trial> trials = *Expand(*experiment);
    planner->AddTrial(trials[0]);
    absl::StatusOr<std::vector<TrialSearch>> searches = ExpandSearches(*experiment, trials);
    EXPECT_TRUE(searches.ok()) << searches.status();
    const ActionId choice = *planner->AddSearch((*searches)[0]);
    planner->FindNeeded();
    engine_.on_end = [this, criterion](const std::string& key) {
      TrialRecord record;
      record.set_schema_version(kSchemaVersion);
      record.set_trial_id(key);
      record.mutable_trial();
      MetricRecord* metric = record.add_metric();
      metric->set_name("aurc");
      if ((*criterion)[key].has_value()) metric->set_value(*(*criterion)[key]);
      EXPECT_TRUE(store_.CommitRecord(record).ok());
    };
    return choice;
  }

  const SpecSandbox sandbox_;
  const Store store_;
  FakeEngine engine_;
  Observer observer_;
  ExecuteOptions options_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_EXECUTE_PLAN_SCENE_H_
