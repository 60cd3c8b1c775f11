#include "experiments/engine/execute_plan.h"

#include <signal.h>

#include <memory>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/plan/planner.h"
#include "experiments/testing/execute_plan_scene.h"

namespace openset {
namespace {

TEST(Retry, OnlyTemporaryFailures) {
  EXPECT_TRUE(IsTransient(absl::UnavailableError("its worker was killed")));
  EXPECT_TRUE(IsTransient(absl::DeadlineExceededError("it hung")));
  EXPECT_TRUE(IsTransient(absl::ResourceExhaustedError("CUDA out of memory")));
  EXPECT_FALSE(IsTransient(absl::AbortedError("the training diverged")));
  EXPECT_FALSE(IsTransient(absl::InvalidArgumentError("a bad spec")));
  EXPECT_FALSE(IsTransient(absl::InternalError("no kernel")));
  EXPECT_FALSE(IsTransient(absl::DataLossError("damaged")));
}

TEST(Retry, EachWaitIsFourTimesTheLastUpToAnHour) {
  const absl::Duration first = absl::Seconds(1);
  EXPECT_EQ(WaitBeforeRetry(first, 1), absl::Seconds(1));
  EXPECT_EQ(WaitBeforeRetry(first, 2), absl::Seconds(4));
  EXPECT_EQ(WaitBeforeRetry(first, 3), absl::Seconds(16));
  EXPECT_EQ(WaitBeforeRetry(first, 90), absl::Hours(1));
}

constexpr absl::Duration kStart = absl::Hours(5);

TEST(PollSchedule, ASignOfLifeIsDueAtOnceAndThenRegularly) {
  PollSchedule times;
  EXPECT_TRUE(times.TakeHeartbeat(kStart, absl::Seconds(2)));
  EXPECT_FALSE(times.TakeHeartbeat(kStart + absl::Seconds(1), absl::Seconds(2)));
  EXPECT_TRUE(times.TakeHeartbeat(kStart + absl::Seconds(2), absl::Seconds(2)));
  EXPECT_FALSE(times.TakeHeartbeat(kStart + absl::Seconds(3), absl::Seconds(2)));
}

TEST(PollSchedule, LooksTakeATwentiethOfTheTime) {
  PollSchedule times;
  EXPECT_TRUE(times.IsPollDue(kStart, absl::Seconds(1)));
  times.RecordPoll(kStart, kStart + absl::Milliseconds(10));
  EXPECT_FALSE(times.IsPollDue(kStart + absl::Milliseconds(900), absl::Seconds(1)));
  EXPECT_TRUE(times.IsPollDue(kStart + absl::Seconds(1), absl::Seconds(1)));
  times.RecordPoll(kStart, kStart + absl::Seconds(3));
  EXPECT_FALSE(times.IsPollDue(kStart + absl::Seconds(59), absl::Seconds(1)));
  EXPECT_TRUE(times.IsPollDue(kStart + absl::Seconds(60), absl::Seconds(1)));
}

TEST(IdleTimeout, EndsAfterATimeWithoutWork) {
  IdleTimeout timeout(absl::Seconds(60));
  EXPECT_FALSE(timeout.IsOver(kStart, false));  // counts from here
  EXPECT_FALSE(timeout.IsOver(kStart + absl::Seconds(59), false));
  EXPECT_FALSE(timeout.IsOver(kStart + absl::Seconds(70), true));
  EXPECT_FALSE(timeout.IsOver(kStart + absl::Seconds(129), false));
  EXPECT_TRUE(timeout.IsOver(kStart + absl::Seconds(130), false));
}

TEST(IdleTimeout, MayBeEndless) {
  IdleTimeout timeout(std::nullopt);
  EXPECT_FALSE(timeout.IsOver(kStart, false));
  EXPECT_FALSE(timeout.IsOver(kStart + absl::Hours(1000), false));
}

// An engine that runs nothing.
class NoEngine : public Engine {
 public:
  const Capacity& capacity() const override { return capacity_; }
  absl::Status Start(ActionId, int, WorkRequest) override { return absl::OkStatus(); }
  std::vector<EngineEvent> Wait(int, absl::Duration) override { return {}; }
  void GiveCpus(ActionId action, int cpu_slots) override { given.emplace_back(action, cpu_slots); }
  void AskToStop(ActionId) override {}
  void Kill(ActionId) override {}
  void KillAll() override {}

  std::vector<std::pair<ActionId, int>> given;

 private:
  Capacity capacity_;
};

class CpuSlotsTest : public ::testing::Test {
 protected:
  // The action becomes ready, gets a seat of one thread and begins.
  int Begin(int id, ActionKind kind, Demand demand = {1}) {
    scheduler_.Add(ActionId{id}, demand, {}, {});
    EXPECT_TRUE(scheduler_.Next().has_value());
    return slots_.Begin(ActionId{id}, StageOf(kind), demand);
  }
  void Finish(int id) {
    slots_.End(ActionId{id});
    scheduler_.Finished(ActionId{id});
    slots_.GiveFree();
  }

  Scheduler scheduler_{{/*cpu_threads=*/4, /*gpus=*/{0}, /*shares_per_gpu=*/4}};
  NoEngine engine_;
  CpuSlots slots_{&scheduler_, &engine_};
};

TEST_F(CpuSlotsTest, ARunningInferenceGetsFreedSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(1, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(2, ActionKind::kInfer), 2);  // nothing else can use the fourth
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, IsEmpty());
  Finish(0);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{2}, 3)));
  Finish(1);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{2}, 3), Pair(ActionId{2}, 4)));
  Finish(2);
  EXPECT_EQ(Begin(3, ActionKind::kInfer), 4);  // all are free again
}

TEST_F(CpuSlotsTest, ReadyActionsComeFirst) {
  EXPECT_EQ(Begin(0, ActionKind::kInfer), 4);
  scheduler_.Add(ActionId{1}, {1}, {}, {});
  scheduler_.Cancelled(ActionId{0});
  slots_.End(ActionId{0});
  EXPECT_EQ(scheduler_.Next()->action, ActionId{0});
  EXPECT_EQ(slots_.Begin(ActionId{0}, StageOf(ActionKind::kInfer), {1}), 1);  // the other one is ready
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, IsEmpty());
  EXPECT_EQ(scheduler_.Next()->action, ActionId{1});
  EXPECT_EQ(slots_.Begin(ActionId{1}, StageOf(ActionKind::kTrain), {1}), 1);
  slots_.GiveFree();
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{0}, 3)));
}

TEST_F(CpuSlotsTest, OtherActionsKeepTheirSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain), 1);
  EXPECT_EQ(Begin(1, ActionKind::kInfer, {2}), 2);  // with two threads: its results depend on their number
  Finish(0);
  EXPECT_THAT(engine_.given, IsEmpty());
}

TEST_F(CpuSlotsTest, ARunningEvaluationGetsFreedSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain, {3}), 3);
  EXPECT_EQ(Begin(1, ActionKind::kEvaluate), 1);
  Finish(0);
  EXPECT_THAT(engine_.given, ElementsAre(Pair(ActionId{1}, 4)));
}

TEST_F(CpuSlotsTest, GpuActionsGetNoMoreSlots) {
  EXPECT_EQ(Begin(0, ActionKind::kTrain, {3}), 3);
  EXPECT_EQ(Begin(1, ActionKind::kInfer, {1, 1}), 1);
  Finish(0);
  EXPECT_THAT(engine_.given, IsEmpty());
}

using Fate = Claims::Fate;

// Two processes of a store, and the plan of a trial: a training, an inference and an evaluation.
class ClaimsTest : public ::testing::Test {
 protected:
  ClaimsTest()
      : store_(sandbox_.folder() + "/store"),
        plan_(PlanInSandbox(sandbox_, store_, "seed: 0")),
        train_(plan_.actions[0].id),
        ours_(Begin("ours.00000000.1.1")),
        theirs_(Begin("theirs.00000000.2.2")) {}

  std::unique_ptr<Leases> Begin(const std::string& run_id) {
    LeaseOptions options;
    options.clock = [this] { return now_; };
    options.run_id = run_id;
    return *Leases::Begin(store_, options);
  }

  Claims Ours(const FailuresBefore* before = nullptr) const { return {plan_, store_, ours_.get(), before}; }
  Claims Theirs() const { return {plan_, store_, theirs_.get(), nullptr}; }

  // The result of the training.
  void Train() const { ASSERT_TRUE(MakeFolders(store_.CheckpointFolder(plan_[train_].key)).ok()); }

  void Fail(bool retried) const {
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_key(plan_[train_].key);
    failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
    failure.set_message("it diverged");
    failure.set_retried(retried);
    ASSERT_TRUE(store_.WriteFailure(failure).ok());
  }

  absl::Duration now_ = absl::Hours(1);
  const SpecSandbox sandbox_;
  const Store store_;
  const Plan plan_;
  const ActionId train_;
  std::unique_ptr<Leases> ours_, theirs_;
};

TEST_F(ClaimsTest, OneOfTwoProcessesGetsAnAction) {
  Claims ours = Ours(), theirs = Theirs();
  EXPECT_EQ(ours.TryClaim(train_)->fate, Fate::kOpen);
  const Claims::Found found = *theirs.TryClaim(train_);
  EXPECT_EQ(found.fate, Fate::kRunningElsewhere);
  EXPECT_EQ(found.run_id, "ours.00000000.1.1");
  ours.Release(train_);
  EXPECT_EQ(theirs.TryClaim(train_)->fate, Fate::kOpen);
}

TEST_F(ClaimsTest, AProcessAloneGetsAll) {
  Claims alone(plan_, store_, /*leases=*/nullptr, /*before=*/nullptr);
  EXPECT_EQ(alone.TryClaim(train_)->fate, Fate::kOpen);
  alone.Release(train_);
}

TEST_F(ClaimsTest, WhatIsDoneIsNotClaimed) {
  Train();
  EXPECT_EQ(Ours().TryClaim(train_)->fate, Fate::kDone);
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), IsEmpty());
}

TEST_F(ClaimsTest, WhatBecomesOfActionsLeftToOthers) {
  Claims ours = Ours(), theirs = Theirs();
  ours.LeaveTo(train_, "theirs.00000000.2.2");
  EXPECT_THAT(ours.PollLeft(), ElementsAre(Pair(train_, Fate::kOpen)));
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kOpen);
  EXPECT_THAT(ours.PollLeft(), ElementsAre(Pair(train_, Fate::kRunningElsewhere)));
  Train();
  theirs.Release(train_);
  EXPECT_THAT(ours.PollLeft(), ElementsAre(Pair(train_, Fate::kDone)));
  EXPECT_THAT(ours.PollLeft(), IsEmpty());  // told once
  ours.LeaveTo(train_);
  ours.TakeBack(train_);
  EXPECT_THAT(ours.PollLeft(), IsEmpty());
}

TEST_F(ClaimsTest, AFailureElsewhereCountsUnlessItIsRetried) {
  Claims ours = Ours();
  ours.LeaveTo(train_, "theirs.00000000.2.2");
  Fail(/*retried=*/true);
  EXPECT_THAT(ours.PollLeft(), ElementsAre(Pair(train_, Fate::kOpen)));
  Fail(/*retried=*/false);
  EXPECT_THAT(ours.PollLeft(), ElementsAre(Pair(train_, Fate::kFailed)));
  EXPECT_THAT(ours.PollLeft(), IsEmpty());
  EXPECT_EQ(ours.FailureReason(train_).code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(ours.FailureReason(train_).message()), HasSubstr("it diverged"));
  EXPECT_THAT(std::string(ours.FailureReason(train_).message()), HasSubstr(RunName("theirs.00000000.2.2")));
}

// Processes that share a run don't repeat what failed in it; a new run does.
TEST_F(ClaimsTest, FailuresSinceARunBeganCount) {
  Fail(/*retried=*/false);
  const FailuresBefore none, one = {{plan_[train_].key, 1}};
  EXPECT_EQ(Ours(&none).TryClaim(train_)->fate, Fate::kFailed);
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), IsEmpty());
  EXPECT_EQ(Ours(&one).TryClaim(train_)->fate, Fate::kOpen);
  Ours().Release(train_);
  EXPECT_EQ(Ours().TryClaim(train_)->fate, Fate::kOpen);
}

TEST_F(ClaimsTest, AnActionMayBeTakenFromAProcessThatSleeps) {
  Claims ours = Ours(), theirs = Theirs();
  ASSERT_EQ(ours.TryClaim(train_)->fate, Fate::kOpen);
  EXPECT_THAT(ours.TakeLost({train_}), IsEmpty());
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kRunningElsewhere);  // from now on, it measures the time
  now_ += 2 * kLongestLease;
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kOpen);
  EXPECT_THAT(ours.TakeLost({train_}), ElementsAre(Pair(train_, "theirs.00000000.2.2")));
  EXPECT_THAT(ours.TakeLost({plan_.actions[1].id}), IsEmpty());  // not running here
}

TEST_F(ExecutePlanTest, TrialsCompleteAndTheLongestTrainingGoesFirst) {
  const Plan plan = MakePlanOf("seed: 0 axis { path: 'training.epochs' value: ['1', '9', '3'] }");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(),
              ElementsAre("train", "infer", "evaluate", "train", "infer", "evaluate", "train", "infer", "evaluate"));
  EXPECT_EQ(engine_.started[0].action().train().training().epochs(), 9);
  EXPECT_EQ(engine_.started[3].action().train().training().epochs(), 3);
  EXPECT_EQ(engine_.started[6].action().train().training().epochs(), 1);
  EXPECT_EQ(observer_.starts, 9);
  EXPECT_EQ(observer_.progress, 9);
  EXPECT_THAT(observer_.finished, SizeIs(9));
}

TEST_F(ExecutePlanTest, PassengersRunWithTheirInference) {
  const Plan plan = MakePlanOf(
      "seed: 0 override { inference { input_perturbation {} } } "
      "axis { path: 'inference.input_perturbation.epsilon' value: ['0', '0.1', '0.2'] } ");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate", "evaluate", "evaluate"));
  EXPECT_EQ(engine_.started[1].passenger_size(), 2);
  EXPECT_THAT(observer_.finished, SizeIs(1 + 3 + 3));
}

TEST_F(ExecutePlanTest, AFailureIsRecordedAndSkipsItsDependents) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  const auto is_train = [](const Action& action) { return action.kind == ActionKind::kTrain; };
  const std::string key = std::find_if(plan.actions.begin(), plan.actions.end(), is_train)->key;
  engine_.failing_keys = {key};
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, SizeIs(1));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_THAT(observer_.finished, SizeIs(3));
  const FailureRecord failure = *store_.LoadFailure(key);
  EXPECT_EQ(failure.kind(), "train");
  EXPECT_EQ(failure.message(), "it failed");
  EXPECT_EQ(failure.log_tail(), "the log");
  // The failure stays when the next run succeeds.
  engine_.failing_keys.clear();
  engine_.keys.clear();  // the second run starts all actions again, since this engine stores no results
  ASSERT_TRUE(Run(MakePlanOf("seed: [0, 1]")).ok());
  EXPECT_EQ(*store_.CountFailures(key), 1);
}

TEST_F(ExecutePlanTest, ALostGpuIsNotUsedAgainAndOthersContinue) {
  engine_.capacity_of.gpus = {0, 1};
  engine_.lost_gpus = {0};
  const Plan plan = MakePlanOf("seed: [0, 1] execution { device: CUDA }");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.lost_gpus, ElementsAre("GPU 0 is no longer used"));
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_EQ(std::count(engine_.gpus.begin(), engine_.gpus.end(), 0), 1);
  for (const Action& action : plan.actions) EXPECT_EQ(*store_.CountFailures(action.key), 0);
}

TEST_F(ExecutePlanTest, ARunWithoutUsableGpusFails) {
  engine_.capacity_of.gpus = {0, 1};
  engine_.lost_gpus = {0, 1};
  EXPECT_EQ(
      Run(MakePlanOf("seed: [0, 1, 2] execution { device: CUDA }")),
      absl::UnavailableError("no GPU is left for the remaining actions: GPU 1 is no longer used; the same command "
                             "continues once one is free"));
  EXPECT_THAT(observer_.lost_gpus, SizeIs(2));
  EXPECT_THAT(observer_.finished, IsEmpty());
  EXPECT_THAT(observer_.skipped, IsEmpty());
}

TEST_F(ExecutePlanTest, AFailedStartIsRetriedWhileOthersRun) {
  engine_.capacity_of.cpu_threads = 3;
  engine_.failing_starts = {1, 3};
  const Plan plan = MakePlanOf("seed: [0, 1, 2]");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.start_failures, ElementsAre(NoFork(), NoFork()));
  EXPECT_THAT(observer_.finished, SizeIs(9));
  EXPECT_EQ(observer_.starts, 9);
}

TEST_F(ExecutePlanTest, AFailedStartWhileNothingRunsEndsTheRunAndFailsNoAction) {
  engine_.refuse_all = true;
  const Plan plan = MakePlanOf("seed: [0, 1]");
  EXPECT_EQ(Run(plan), NoFork());
  EXPECT_EQ(engine_.refused, 1);
  EXPECT_EQ(observer_.starts, 0);
  EXPECT_THAT(observer_.failed, IsEmpty());
  for (const Action& action : plan.actions) {
    EXPECT_FALSE(store_.LoadFailure(action.key).ok());
  }
}

// One of four trainings is done at the first wait; its inference is running by the second.
TEST_F(ExecutePlanTest, ASignalLetsTrainingsSaveTheirStatesAndKillsOthers) {
  engine_.capacity_of.cpu_threads = 4;
  engine_.interrupt_at = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3, 4, 5]");
  engine_.on_wait = [this] {
    if (engine_.waits == 2) engine_.held_back = true;
    if (engine_.waits == 3) {
      EXPECT_THAT(engine_.asked, SizeIs(3));
      EXPECT_THAT(engine_.killed, SizeIs(1));
      engine_.held_back = false;
    }
  };
  EXPECT_EQ(Run(plan), absl::CancelledError("stopped by Interrupt"));
  EXPECT_EQ(engine_.waits, 5);  // one end at each wait
  EXPECT_FALSE(engine_.killed_all);
  EXPECT_THAT(engine_.running, IsEmpty());
  EXPECT_THAT(engine_.started, SizeIs(5));  // nothing new has started
  EXPECT_THAT(observer_.finished, SizeIs(1));
  EXPECT_THAT(observer_.failed, IsEmpty());
  for (const Action& action : plan.actions) EXPECT_EQ(*store_.CountFailures(action.key), 0);
}

TEST_F(ExecutePlanTest, ASecondSignalKillsTrainingsToo) {
  engine_.capacity_of.cpu_threads = 2;
  engine_.held_back = true;
  engine_.on_wait = [this] {
    if (engine_.waits == 1 || engine_.waits == 4) raise(SIGTERM);
  };
  EXPECT_EQ(Run(MakePlanOf("seed: [0, 1]")), absl::CancelledError("stopped by Terminated"));
  EXPECT_EQ(engine_.waits, 4);
  EXPECT_THAT(engine_.asked, SizeIs(2));
  EXPECT_TRUE(engine_.killed_all);
}

TEST_F(ExecutePlanTest, ATrainingThatDoesNotSaveItsStateInTimeIsKilled) {
  engine_.held_back = true;
  engine_.interrupt_at = 1;
  options_.saving = absl::ZeroDuration();
  EXPECT_EQ(Run(MakePlanOf("seed: 0")), absl::CancelledError("stopped by Interrupt"));
  EXPECT_EQ(engine_.waits, 1);
  EXPECT_TRUE(engine_.killed_all);
}

TEST_F(ExecutePlanTest, ASingleActionMayUseAllCpusIfResultsAreIdentical) {
  engine_.capacity_of.cpu_threads = 4;
  ASSERT_TRUE(Run(MakePlanOf("seed: 0")).ok());
  ASSERT_THAT(engine_.started, SizeIs(3));
  EXPECT_TRUE(engine_.started[0].action().has_train());
  EXPECT_EQ(engine_.started[0].cpu_slots(), 1);
  EXPECT_TRUE(engine_.started[1].action().has_infer());
  EXPECT_EQ(engine_.started[1].cpu_slots(), 4);
  EXPECT_TRUE(engine_.started[2].action().has_evaluate());
  EXPECT_EQ(engine_.started[2].cpu_slots(), 4);
}

TEST_F(ExecutePlanTest, TheLastInferenceGetsCpusThatBecomeFree) {
  engine_.capacity_of.cpu_threads = 2;
  const Plan plan = MakePlanOf("seed: [0, 1]");
  // An evaluation ends before an inference that began earlier.
  engine_.on_wait = [&] {
    if (engine_.running.size() < 2 || plan[engine_.running.back().first].kind != ActionKind::kEvaluate) return;
    std::swap(engine_.running.front(), engine_.running.back());
  };
  ASSERT_TRUE(Run(plan).ok());
  ASSERT_THAT(engine_.given, SizeIs(1));
  EXPECT_EQ(plan[engine_.given[0].first].kind, ActionKind::kInfer);
  EXPECT_EQ(engine_.given[0].second, 2);
}

TEST_F(ExecutePlanTest, AGpuRunsAsManyActionsAsItHasShares) {
  const Plan plan = MakePlanOf("seed: [0, 1, 2] execution { device: CUDA }");
  EXPECT_TRUE(absl::IsFailedPrecondition(Run(plan)));
  EXPECT_THAT(engine_.started, IsEmpty());
  engine_.capacity_of.gpus = {3, 5};
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(engine_.most_running, 2 + 1);  // and an evaluation
  EXPECT_THAT(std::set<int>(engine_.gpus.begin(), engine_.gpus.end()), UnorderedElementsAre(-1, 3, 5));

  FakeEngine shared;
  shared.capacity_of.gpus = {3};
  shared.capacity_of.shares_per_gpu = 3;
  ASSERT_TRUE(ExecutePlan(plan, NoChoice, store_, options_, &shared, &observer_).ok());
  EXPECT_GE(shared.most_running, 3);
}

TEST(ThreadsBesideGpu, AreTwoOrAShareOfAllButOne) {
  EXPECT_EQ(ThreadsBesideGpu({16, {0}, 1}), 2);
  EXPECT_EQ(ThreadsBesideGpu({16, {0}, 4}), 2);
  EXPECT_EQ(ThreadsBesideGpu({16, {0, 1, 2, 3, 4, 5, 6, 7}, 1}), 1);
  EXPECT_EQ(ThreadsBesideGpu({2, {0}, 1}), 1);
  EXPECT_EQ(ThreadsBesideGpu({4, {0}, 4}), 0);
  EXPECT_EQ(ThreadsBesideGpu({1, {0}, 1}), 0);
}

// The training itself is bound to no CPUs.
TEST_F(ExecutePlanTest, AnEvaluationLeavesCpusToATrainingOnAGpu) {
  engine_.capacity_of.cpu_threads = 4;
  engine_.capacity_of.gpus = {0};
  const Plan plan = MakePlanOf("seed: [0, 1] execution { device: CUDA }");
  ASSERT_TRUE(Run(plan).ok());
  for (const WorkRequest& request : engine_.started) {
    if (request.action().has_train()) {
      EXPECT_EQ(request.cpu_slots(), 0);
    }
  }
  ASSERT_FALSE(engine_.given.empty());
  EXPECT_EQ(plan[engine_.given[0].first].kind, ActionKind::kEvaluate);  // beside the second training
  EXPECT_EQ(engine_.given[0].second, 2);
}

TEST_F(ExecutePlanTest, MemoryIsCountedByTheKindOfAction) {
  engine_.capacity_of.cpu_threads = 8;
  engine_.capacity_of.memory_mb = 1000;
  options_.deploy.mutable_memory()->set_train_mb(500);
  options_.deploy.mutable_memory()->set_infer_mb(1000);
  options_.deploy.mutable_memory()->set_evaluate_mb(10);
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3]");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(engine_.most_running, 2);
  EXPECT_THAT(observer_.finished, SizeIs(12));
}

TEST_F(ExecutePlanTest, ChoicesAreMadeAndTheirActionsRun) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> aurc;
  const ActionId choice = PlanSearch(&planner, &aurc);
  const Plan& plan = planner.plan();
  aurc[plan.trial_id(1)] = 0.5;
  aurc[plan.trial_id(2)] = 0.25;  // three epochs; better, since AURC is a risk
  const auto choose = [&](ActionId action) {
    EXPECT_EQ(action, choice);
    return planner.Choose(action);
  };
  ASSERT_TRUE(ExecutePlan(plan, choose, store_, options_, &engine_, &observer_).ok());
  ASSERT_THAT(plan.trials, SizeIs(4));
  EXPECT_EQ(plan.searches[0].tuned, 3);
  EXPECT_EQ(plan.trials[3].method().training().epochs(), 3);
  // Two trainings, one shared by the written trial and the first candidate, and an inference and an evaluation for each
  // of the three; then the tuned trial's, whose training is the second candidate's.
  EXPECT_THAT(observer_.added, SizeIs(2));
  EXPECT_THAT(engine_.started, SizeIs(2 + 3 * 2 + 2));
  EXPECT_EQ(engine_.started.back().key(), plan.trial_id(3));
  EXPECT_THAT(observer_.finished, SizeIs(10 + 1));  // and the choice
}

TEST_F(ExecutePlanTest, AChoiceThatCannotBeMadeIsAFailure) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> undefined;
  const ActionId choice = PlanSearch(&planner, &undefined);
  const auto choose = [&](ActionId action) { return planner.Choose(action); };
  EXPECT_EQ(ExecutePlan(planner.plan(), choose, store_, options_, &engine_, &observer_),
            absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.failed, ElementsAre(choice));
  EXPECT_THAT(engine_.started, SizeIs(2 + 3 * 2));
  EXPECT_EQ(store_.LoadFailure(planner.plan()[choice].key)->kind(), "choose");
}

TEST_F(ExecutePlanTest, AFailedCandidateSkipsTheChoice) {
  Planner planner(store_, [](const Selection&) { return 10; });
  std::map<std::string, std::optional<double>> aurc;
  const ActionId choice = PlanSearch(&planner, &aurc);
  engine_.failing_keys = {planner.plan().trial_id(1)};
  EXPECT_EQ(ExecutePlan(planner.plan(), NoChoice, store_, options_, &engine_, &observer_),
            absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.skipped, ElementsAre(choice));
}

TEST_F(ExecutePlanTest, TemporaryFailuresAreRetriedAfterAWait) {
  options_.first_wait = absl::Milliseconds(10);
  const Plan plan = MakePlanOf("seed: [0, 1]");
  const std::string key = plan.actions[0].key;
  engine_.fails_once = {key};
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.retries, ElementsAre(std::pair(ActionId{0}, absl::Milliseconds(10))));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_THAT(engine_.started, SizeIs(6 + 1));
  EXPECT_EQ(*store_.CountFailures(key), 1);
  EXPECT_TRUE(store_.LoadFailure(key)->retried());

  // But it is not retried forever.
  engine_.keys.clear();
  engine_.failing_keys = {key};
  engine_.failure = absl::DeadlineExceededError("it hung");
  observer_.retries.clear();
  EXPECT_EQ(Run(MakePlanOf("seed: [0, 1]")), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.retries, ElementsAre(std::pair(ActionId{0}, absl::Milliseconds(10)),
                                             std::pair(ActionId{0}, absl::Milliseconds(40))));
  EXPECT_EQ(*store_.CountFailures(key), 1 + 3);
  EXPECT_FALSE(store_.LoadFailure(key)->retried());
  EXPECT_EQ(store_.LoadFailure(key)->code(), static_cast<int>(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(ExecutePlanTest, NothingIsStartedAfterTooManyFailures) {
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3, 4]");
  for (const Action& action : plan.actions) engine_.failing_keys.insert(action.key);
  options_.deploy.set_max_failures(2);
  EXPECT_EQ(Run(plan), absl::AbortedError("2 actions failed; openset started no new work after that (--max_failures)"));
  EXPECT_THAT(engine_.started, SizeIs(2));
}

TEST_F(ExecutePlanTest, AFullStoreStartsNothingNewAndFailsNoAction) {
  engine_.capacity_of.cpu_threads = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2, 3]");
  engine_.failing_keys = {plan.actions[0].key};
  engine_.failure = absl::UnavailableError("cannot write x: No space left on device");
  const absl::Status status = Run(plan);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is full or missing: cannot write x: No space left on device"));
  EXPECT_THAT(engine_.started, SizeIs(2));
  EXPECT_THAT(observer_.finished, SizeIs(1));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 0);
}

// The inference of the training that ended at the first wait runs to its end; the other training saves its state.
TEST_F(ExecutePlanTest, WhenTimeRunsOutTrainingsSaveAndNothingIsKilled) {
  engine_.capacity_of.cpu_threads = 2;
  const Plan plan = MakePlanOf("seed: [0, 1, 2]");
  engine_.on_wait = [this] { engine_.held_back = engine_.waits == 2; };
  engine_.interrupt_at = 2;
  engine_.signal = SIGUSR1;
  EXPECT_EQ(Run(plan), TimeIsUp());
  EXPECT_THAT(engine_.asked, SizeIs(1));
  EXPECT_THAT(engine_.killed, IsEmpty());
  EXPECT_FALSE(engine_.killed_all);
  EXPECT_THAT(engine_.started, SizeIs(3));  // nothing new has started
  EXPECT_THAT(observer_.finished, SizeIs(2));
  EXPECT_THAT(observer_.failed, IsEmpty());
}

}  // namespace
}  // namespace openset
