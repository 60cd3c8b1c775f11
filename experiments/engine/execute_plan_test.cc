#include "experiments/engine/execute_plan.h"

#include <signal.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "experiments/plan/planner.h"
#include "experiments/plan/search.h"
#include "experiments/spec/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const absl::Status kNoFork = absl::UnavailableError("cannot fork: no memory");

// Runs nothing: what was started ends at the next wait but `delay`, in order.
class FakeEngine : public Engine {
 public:
  const Capacity& capacity() const override { return capacity_of; }

  absl::Status Start(int action, int gpu, WorkRequest request) override {
    if (failing_starts.erase(static_cast<int>(started.size() + refused)) > 0 || refuse_all) {
      ++refused;
      return kNoFork;
    }
    EXPECT_TRUE(keys.insert(request.key()).second) << "started twice";
    started.push_back(request);
    gpus.push_back(gpu);
    running.push_back({action, request.key()});
    most_running = std::max(most_running, running.size());
    return absl::OkStatus();
  }

  std::vector<EngineEvent> Wait(int, absl::Duration) override {
    ++waits;
    if (waits == interrupt_at) raise(signal);
    if (on_wait) on_wait();
    if (held_back || running.empty()) return {};  // all wait for something else
    const auto [action, key] = running.front();
    running.pop_front();
    if (on_end) on_end(key);
    EngineEvent progress{action};
    progress.progress.emplace().set_fraction(0.5);
    EngineEvent end{action};
    end.end = failing_keys.count(key) > 0 ? failure : absl::OkStatus();
    if (fails_once.erase(key) > 0) end.end = absl::UnavailableError("its worker died");
    if (!end.end->ok()) {
      end.log_tail = "the log";
      keys.erase(key);
    }
    return {progress, end};
  }

  void Kill(int action) override {
    killed.push_back(action);
    const auto is_it = [action](const auto& entry) { return entry.first == action; };
    running.erase(std::find_if(running.begin(), running.end(), is_it));
  }
  void KillAll() override { running.clear(); }

  Capacity capacity_of;
  std::set<int> failing_starts;  // by number of the call
  bool refuse_all = false;
  std::set<std::string> failing_keys;
  std::set<std::string> fails_once;  // by what may pass
  absl::Status failure = absl::AbortedError("it failed");
  std::function<void(const std::string& key)> on_end;
  std::function<void()> on_wait;
  bool held_back = false;  // nothing ends
  int interrupt_at = -1;
  int signal = SIGINT;

  std::vector<WorkRequest> started;
  std::vector<int> gpus;
  std::set<std::string> keys;
  std::vector<int> killed;
  std::deque<std::pair<int, std::string>> running;
  size_t most_running = 0;
  size_t refused = 0;
  int waits = 0;
};

class Observer : public EngineObserver {
 public:
  void OnStart(int) override { ++starts; }
  void OnProgress(int, const WorkProgress&) override { ++progress; }
  void OnFinish(int node, const absl::Status& status) override { (status.ok() ? finished : failed).push_back(node); }
  void OnSkip(int node) override { skipped.push_back(node); }
  void OnStartFailure(int, const absl::Status& status) override { start_failures.push_back(status); }
  void OnGrowth(const std::vector<int>& nodes) override { added.insert(added.end(), nodes.begin(), nodes.end()); }
  void OnRetry(int node, const absl::Status&, absl::Duration wait) override { retries.emplace_back(node, wait); }
  void OnElsewhere(int node, const std::string& run_id, bool was_ours) override {
    elsewhere.push_back(absl::StrCat(node, " ", run_id, was_ours ? " was ours" : ""));
  }
  void OnTick() override {}
  void Describe(RunState* state) const override { state->set_experiment("described"); }

  std::vector<std::pair<int, absl::Duration>> retries;
  std::vector<std::string> elsewhere;
  std::vector<int> added;
  int starts = 0, progress = 0;
  std::vector<int> finished, failed, skipped;
  std::vector<absl::Status> start_failures;
};

absl::StatusOr<std::vector<int>> NoChoice(int) { return absl::InternalError("no search was planned"); }

class ExecutePlanTest : public ::testing::Test {
 protected:
  ExecutePlanTest() : store_(sandbox_.folder() + "/store") {}

  Plan MakePlanOf(const std::string& more) const {
    const absl::StatusOr<Experiment> experiment =
        sandbox_.Load(absl::StrCat("name: 'spec' task: 'task' method: 'plain' split: 0 metric { accuracy {} } ", more));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return MakePlan(*Expand(*experiment), store_, [](const Selection&) { return 10; });
  }

  absl::Status Run(const Plan& plan) { return ExecutePlan(plan, NoChoice, store_, options_, &engine_, &observer_); }

  // "train", "infer", ... in the order of starting.
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const WorkRequest& request : engine_.started) {
      kinds.push_back(request.has_train() ? "train" : request.has_infer() ? "infer" : "evaluate");
    }
    return kinds;
  }

  // The plan of a trial and of the search among two candidates, on two trainings. The engine leaves records, with these
  // values of the criterion.
  int PlanSearch(Planner* planner, std::map<std::string, std::optional<double>>* criterion) {
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
    const int choice = *planner->AddSearch((*searches)[0]);
    planner->FindNeeded();
    engine_.on_end = [this, criterion](const std::string& key) {
      TrialRecord record;
      record.set_schema_version(kSchemaVersion);
      record.set_trial_id(key);
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

TEST_F(ExecutePlanTest, TrialsCompleteAndTheLongestTrainingGoesFirst) {
  const Plan plan = MakePlanOf("seed: 0 axis { path: 'training.epochs' value: ['1', '9', '3'] }");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(),
              ElementsAre("train", "infer", "evaluate", "train", "infer", "evaluate", "train", "infer", "evaluate"));
  EXPECT_EQ(engine_.started[0].train().training().epochs(), 9);
  EXPECT_EQ(engine_.started[3].train().training().epochs(), 3);
  EXPECT_EQ(engine_.started[6].train().training().epochs(), 1);
  EXPECT_EQ(observer_.starts, 9);
  EXPECT_EQ(observer_.progress, 9);
  EXPECT_THAT(observer_.finished, SizeIs(9));
}

TEST_F(ExecutePlanTest, PassengersGoWithTheirInference) {
  const Plan plan = MakePlanOf(
      "seed: 0 override { inference { input_perturbation {} } } "
      "axis { path: 'inference.input_perturbation.epsilon' value: ['0', '0.1', '0.2'] } ");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate", "evaluate", "evaluate"));
  EXPECT_EQ(engine_.started[1].infer_together_size(), 2);
  EXPECT_THAT(observer_.finished, SizeIs(1 + 3 + 3));
}

TEST_F(ExecutePlanTest, AFailureIsRecordedAndSkipsItsDependents) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  const auto is_train = [](const PlanNode& node) { return node.kind == ActionKind::kTrain; };
  const std::string key = std::find_if(plan.nodes.begin(), plan.nodes.end(), is_train)->key;
  engine_.failing_keys = {key};
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, SizeIs(1));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_THAT(observer_.finished, SizeIs(3));
  const FailureRecord failure = *store_.LoadFailure(key);
  EXPECT_EQ(failure.kind(), "train");
  EXPECT_EQ(failure.message(), "it failed");
  EXPECT_EQ(failure.log_tail(), "the log");
  // It stays when the next run succeeds.
  engine_.failing_keys.clear();
  engine_.keys.clear();  // a second run starts them anew: this engine leaves nothing in the store
  ASSERT_TRUE(Run(MakePlanOf("seed: [0, 1]")).ok());
  EXPECT_EQ(store_.CountFailures(key), 1);
}

TEST_F(ExecutePlanTest, AStartThatFailsWhileOthersRunIsTriedAgain) {
  engine_.capacity_of.cpu_threads = 3;
  engine_.failing_starts = {1, 3};
  const Plan plan = MakePlanOf("seed: [0, 1, 2]");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.start_failures, ElementsAre(kNoFork, kNoFork));
  EXPECT_THAT(observer_.finished, SizeIs(9));
  EXPECT_EQ(observer_.starts, 9);
}

TEST_F(ExecutePlanTest, AStartThatFailsWhileNothingRunsIsTheErrorAndNoFailureOfTheAction) {
  engine_.refuse_all = true;
  const Plan plan = MakePlanOf("seed: [0, 1]");
  EXPECT_EQ(Run(plan), kNoFork);
  EXPECT_EQ(engine_.refused, 1);
  EXPECT_EQ(observer_.starts, 0);
  EXPECT_THAT(observer_.failed, IsEmpty());
  for (const PlanNode& node : plan.nodes) {
    EXPECT_FALSE(store_.LoadFailure(node.key).ok());
  }
}

TEST_F(ExecutePlanTest, ASignalKillsWhatRuns) {
  engine_.capacity_of.cpu_threads = 4;
  engine_.interrupt_at = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3, 4, 5]");
  EXPECT_EQ(Run(plan), absl::CancelledError("stopped by Interrupt"));
  EXPECT_THAT(engine_.running, IsEmpty());
}

TEST_F(ExecutePlanTest, AGpuIsSharedByAsManyActionsAsItHasShares) {
  const Plan plan = MakePlanOf("seed: [0, 1, 2] execution { device: CUDA }");
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(plan)));
  EXPECT_THAT(engine_.started, IsEmpty());
  engine_.capacity_of.gpus = {3, 5};
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(engine_.most_running, 2 + 1);  // an evaluation beside them
  EXPECT_THAT(std::set<int>(engine_.gpus.begin(), engine_.gpus.end()), UnorderedElementsAre(-1, 3, 5));

  FakeEngine shared;
  shared.capacity_of.gpus = {3};
  shared.capacity_of.shares_per_gpu = 3;
  ASSERT_TRUE(ExecutePlan(plan, NoChoice, store_, options_, &shared, &observer_).ok());
  EXPECT_GE(shared.most_running, 3);
}

TEST_F(ExecutePlanTest, MemoryIsCountedByTheKindOfAction) {
  engine_.capacity_of.cpu_threads = 8;
  engine_.capacity_of.memory_mb = 1000;
  options_.memory.set_train_mb(500);
  options_.memory.set_infer_mb(1000);
  options_.memory.set_evaluate_mb(10);
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3]");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(engine_.most_running, 2);
  EXPECT_THAT(observer_.finished, SizeIs(12));
}

TEST_F(ExecutePlanTest, AChoiceIsMadeOnTheWayAndWhatItAddsIsDone) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> aurc;
  const int choice = PlanSearch(&planner, &aurc);
  const Plan& plan = planner.plan();
  aurc[plan.trial_id(1)] = 0.5;
  aurc[plan.trial_id(2)] = 0.25;  // three epochs: the better one, as AURC is a risk
  const auto choose = [&](int node) {
    EXPECT_EQ(node, choice);
    return planner.Choose(node);
  };
  ASSERT_TRUE(ExecutePlan(plan, choose, store_, options_, &engine_, &observer_).ok());
  ASSERT_THAT(plan.trials, SizeIs(4));
  EXPECT_EQ(plan.searches[0].tuned, 3);
  EXPECT_EQ(plan.trials[3].method().training().epochs(), 3);
  // Two trainings, of which the written trial and the first candidate share one, and an inference and an evaluation for
  // each of the three; then those of the tuned trial, whose training is the second candidate's.
  EXPECT_THAT(observer_.added, SizeIs(2));
  EXPECT_THAT(engine_.started, SizeIs(2 + 3 * 2 + 2));
  EXPECT_EQ(engine_.started.back().key(), plan.trial_id(3));
  EXPECT_THAT(observer_.finished, SizeIs(10 + 1));  // and the choice
}

TEST_F(ExecutePlanTest, AChoiceThatCannotBeMadeIsAFailure) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> undefined;
  const int choice = PlanSearch(&planner, &undefined);
  const auto choose = [&](int node) { return planner.Choose(node); };
  EXPECT_EQ(ExecutePlan(planner.plan(), choose, store_, options_, &engine_, &observer_),
            absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, ElementsAre(choice));
  EXPECT_THAT(engine_.started, SizeIs(2 + 3 * 2));
  EXPECT_EQ(store_.LoadFailure(planner.plan().nodes[choice].key)->kind(), "choose");
}

TEST_F(ExecutePlanTest, ACandidateThatFailsLeavesNoChoice) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> aurc;
  const int choice = PlanSearch(&planner, &aurc);
  engine_.failing_keys = {planner.plan().trial_id(1)};
  EXPECT_EQ(ExecutePlan(planner.plan(), NoChoice, store_, options_, &engine_, &observer_),
            absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.skipped, ElementsAre(choice));
}

TEST_F(ExecutePlanTest, WhatMayPassIsTriedAgainAfterAWait) {
  options_.retry.first_wait = absl::Milliseconds(10);
  const Plan plan = MakePlanOf("seed: [0, 1]");
  const std::string key = plan.nodes[0].key;
  engine_.fails_once = {key};
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.retries, ElementsAre(std::pair(0, absl::Milliseconds(10))));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_THAT(engine_.started, SizeIs(6 + 1));
  EXPECT_EQ(store_.CountFailures(key), 1);
  EXPECT_TRUE(store_.LoadFailure(key)->retried());

  // But not for ever.
  engine_.keys.clear();
  engine_.failing_keys = {key};
  engine_.failure = absl::DeadlineExceededError("it hung");
  observer_.retries.clear();
  EXPECT_EQ(Run(MakePlanOf("seed: [0, 1]")), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.retries,
              ElementsAre(std::pair(0, absl::Milliseconds(10)), std::pair(0, absl::Milliseconds(40))));
  EXPECT_EQ(store_.CountFailures(key), 1 + 3);
  EXPECT_FALSE(store_.LoadFailure(key)->retried());
  EXPECT_EQ(store_.LoadFailure(key)->code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(ExecutePlanTest, NothingIsStartedAfterTooManyFailures) {
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3, 4]");
  for (const PlanNode& node : plan.nodes) engine_.failing_keys.insert(node.key);
  options_.max_failures = 2;
  EXPECT_EQ(Run(plan), absl::AbortedError("2 actions failed, and nothing new was started after that (--max_failures)"));
  EXPECT_THAT(engine_.started, SizeIs(2));
}

TEST_F(ExecutePlanTest, AFullStoreStopsWhatIsNewAndBlamesNoAction) {
  engine_.capacity_of.cpu_threads = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3]");
  engine_.failing_keys = {plan.nodes[0].key};
  engine_.failure = absl::UnavailableError("cannot write x: No space left on device");
  const absl::Status status = Run(plan);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is full or gone: cannot write x: No space left on device"));
  EXPECT_THAT(engine_.started, SizeIs(2));
  EXPECT_THAT(observer_.finished, SizeIs(1));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_EQ(store_.CountFailures(plan.nodes[0].key), 0);
}

TEST_F(ExecutePlanTest, ATrainingMayEndItsEpochWhenTimeRunsOut) {
  engine_.capacity_of.cpu_threads = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2]");
  engine_.interrupt_at = 1;
  engine_.signal = SIGUSR1;
  EXPECT_EQ(Run(plan), absl::CancelledError("stopped, as its time is up"));
  EXPECT_THAT(engine_.started, SizeIs(2));  // nothing new
  EXPECT_THAT(observer_.finished, SizeIs(2));
}

class LeasedTest : public ExecutePlanTest {
 protected:
  LeasedTest() {
    LeaseOptions options;
    options.clock = [this] { return now_; };
    options.run_id = "ours.0.1.1";
    ours_ = *Leases::Begin(store_, options);
    options.run_id = "theirs.0.2.2";
    theirs_ = *Leases::Begin(store_, options);
    options_.leases = ours_.get();
    options_.retry.first_wait = absl::Milliseconds(1);  // looks as often
  }

  // What an action leaves.
  void Make(const PlanNode& node) const {
    if (node.kind == ActionKind::kEvaluate) {
      TrialRecord record;
      record.set_trial_id(node.key);
      EXPECT_TRUE(store_.CommitRecord(record).ok());
    } else {
      const bool train = node.kind == ActionKind::kTrain;
      EXPECT_TRUE(MakeFolders(train ? store_.CheckpointFolder(node.key) : store_.OutputsFolder(node.key)).ok());
    }
  }

  absl::Duration now_ = absl::Hours(1);
  std::unique_ptr<Leases> ours_, theirs_;
};

TEST_F(LeasedTest, WhatAnotherProcessDoesIsWaitedForAndUsed) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  ASSERT_EQ(*theirs_->TryClaim({plan.nodes[0].key}), "");
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    Make(plan.nodes[0]);
    theirs_->Release(plan.nodes[0].key);
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.elsewhere, ElementsAre("0 theirs.0.2.2"));
  EXPECT_THAT(engine_.started, SizeIs(5));
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), IsEmpty());
  EXPECT_THAT(RunsOf(store_), SizeIs(2));
}

TEST_F(LeasedTest, WhatADeadProcessLeftIsTakenOver) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.nodes[0].key}), "");
  engine_.on_wait = [&] { now_ += absl::Seconds(5); };  // they give no sign of life
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.elsewhere, SizeIs(1));
  EXPECT_THAT(engine_.started, SizeIs(3));
  EXPECT_THAT(theirs_->Lost(), ElementsAre(plan.nodes[0].key));
}

TEST_F(LeasedTest, WhatFailsInAnotherProcessFailsHere) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.nodes[0].key}), "");
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_key(plan.nodes[0].key);
    failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
    failure.set_message("it diverged");
    ASSERT_TRUE(store_.WriteFailure(failure).ok());
    theirs_->Release(plan.nodes[0].key);
  };
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(engine_.started, IsEmpty());
  EXPECT_THAT(observer_.failed, SizeIs(1));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_EQ(store_.CountFailures(plan.nodes[0].key), 1);
}

TEST_F(LeasedTest, WhatIsDoneMeanwhileIsNotDoneAgain) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  for (const PlanNode& node : plan.nodes) Make(node);
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(engine_.started, IsEmpty());
  EXPECT_THAT(observer_.finished, SizeIs(6));
}

TEST_F(LeasedTest, AProcessThatSleptLeavesItsActionsToWhoTookThemOver) {
  options_.leases = nullptr;
  LeaseOptions brief;  // renews, and looks for what it lost, all the time
  brief.lease = absl::Milliseconds(1);
  brief.clock = [this] { return now_; };
  brief.run_id = "sleeper.0.3.3";
  const auto sleeper = *Leases::Begin(store_, brief);
  options_.leases = sleeper.get();
  const Plan plan = MakePlanOf("seed: 0");
  const std::string key = plan.nodes[0].key;
  engine_.on_wait = [&] {
    if (engine_.waits == 1) {
      EXPECT_NE(theirs_->OwnerOf(key), "");
      now_ += absl::Minutes(2);
      ASSERT_EQ(*theirs_->TryClaim({key}), "");
      engine_.held_back = true;
    } else if (engine_.waits == 3) {
      Make(plan.nodes[0]);
      theirs_->Release(key);
      engine_.held_back = false;
    }
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(engine_.killed, SizeIs(1));
  EXPECT_THAT(observer_.elsewhere, ElementsAre("0 theirs.0.2.2 was ours"));
  EXPECT_THAT(observer_.finished, SizeIs(3));
}

TEST_F(LeasedTest, OnlyWhatItIsToldAndWhoseInputsAreThere) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  Make(plan.nodes[0]);
  options_.only = [](const PlanNode& node) { return node.kind == ActionKind::kInfer; };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("infer"));
  EXPECT_THAT(observer_.skipped, SizeIs(1));
}

}  // namespace
}  // namespace openset
