// ExecutePlan() with two processes on one store.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/small_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/store/processes/leases.h"
#include "experiments/testing/execute_plan_scene.h"

namespace openset {
namespace {

class LeasedTest : public ExecutePlanTest {
 protected:
  LeasedTest() {
    LeaseOptions options;
    options.clock = [this] { return now_; };
    options.run_id = "ours.00000000.1.1";
    ours_ = *Leases::Begin(store_, options);
    options.run_id = "theirs.00000000.2.2";
    theirs_ = *Leases::Begin(store_, options);
    options_.leases = ours_.get();
    options_.poll_interval = absl::Milliseconds(1);
  }

  // The result that an action stores.
  void Make(const Action& action) const {
    if (action.kind == ActionKind::kEvaluate) {
      TrialRecord record;
      record.set_trial_id(action.key);
      record.mutable_trial();
      record.add_metric()->set_name("accuracy");
      EXPECT_TRUE(store_.CommitRecord(record).ok());
    } else {
      const bool train = action.kind == ActionKind::kTrain;
      EXPECT_TRUE(MakeFolders(train ? store_.CheckpointFolder(action.key) : store_.OutputsFolder(action.key)).ok());
    }
  }

  absl::Duration now_ = absl::Hours(1);
  std::unique_ptr<Leases> ours_, theirs_;
};

TEST_F(LeasedTest, WaitsForAndUsesResultsOfAnotherProcess) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    Make(plan.actions[0]);
    theirs_->Release(plan.actions[0].key);
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.elsewhere, ElementsAre("0 theirs.00000000.2.2"));
  EXPECT_THAT(engine_.started, SizeIs(5));
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_THAT(*ListFolder(store_.folder() + "/running"), IsEmpty());
  EXPECT_THAT(RunsOf(store_), SizeIs(2));
}

TEST_F(LeasedTest, TakesOverActionsOfADeadProcess) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  engine_.on_wait = [&] { now_ += absl::Seconds(5); };  // this process gives no sign of life
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(observer_.elsewhere, SizeIs(1));
  EXPECT_THAT(engine_.started, SizeIs(3));
  EXPECT_THAT(theirs_->Lost(), ElementsAre(plan.actions[0].key));
}

TEST_F(LeasedTest, AClaimThatCannotBeReadIsTriedAgainAndThenGivenUp) {
  if (!EnterMountNamespace()) GTEST_SKIP() << "this process may not mount";
  const Plan plan = MakePlanOf("seed: [0, 1]");
  const std::string path = absl::StrCat(store_.folder(), "/running/", plan.actions[0].key);
  auto claim = std::make_unique<UnreadableFile>(path);
  ASSERT_TRUE(claim->is_there());
  options_.deploy.set_retries(3);
  options_.first_wait = absl::Milliseconds(1);
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  const std::string why = absl::StrCat("it can't be claimed now: cannot open ", path, ": Permission denied");
  EXPECT_THAT(observer_.retries, SizeIs(3));
  EXPECT_THAT(observer_.failures, ElementsAre(absl::UnavailableError(why)));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  // The other trial is complete, and the action has no failure that would count in other processes.
  EXPECT_THAT(engine_.started, SizeIs(3));
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 0);
  claim.reset();
  EXPECT_EQ(*ours_->TryClaim({plan.actions[0].key}), "");
}

TEST_F(LeasedTest, FailuresInAnotherProcessCountHere) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_key(plan.actions[0].key);
    failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
    failure.set_message("it diverged");
    ASSERT_TRUE(store_.WriteFailure(failure).ok());
    theirs_->Release(plan.actions[0].key);
  };
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(engine_.started, IsEmpty());
  EXPECT_THAT(observer_.failed, SizeIs(1));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_EQ(*store_.CountFailures(plan.actions[0].key), 1);
}

TEST_F(LeasedTest, ActionsDoneMeanwhileAreNotRepeated) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  for (const Action& action : plan.actions) Make(action);
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(engine_.started, IsEmpty());
  EXPECT_THAT(observer_.finished, SizeIs(6));
}

TEST_F(LeasedTest, LeavesActionsThatWereTakenOverWhileItSlept) {
  options_.leases = nullptr;
  LeaseOptions brief;  // renews, and checks for lost claims, all the time
  brief.lease = absl::Milliseconds(1);
  brief.clock = [this] { return now_; };
  brief.run_id = "sleeper.00000000.3.3";
  const auto sleeper = *Leases::Begin(store_, brief);
  options_.leases = sleeper.get();
  const Plan plan = MakePlanOf("seed: 0");
  const std::string key = plan.actions[0].key;
  engine_.on_wait = [&] {
    if (engine_.waits == 1) {
      EXPECT_NE(theirs_->OwnerOf(key), "");
      now_ += absl::Minutes(2);
      ASSERT_EQ(*theirs_->TryClaim({key}), "");
      engine_.held_back = true;
    } else if (engine_.waits == 3) {
      Make(plan.actions[0]);
      theirs_->Release(key);
      engine_.held_back = false;
    }
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(engine_.killed, SizeIs(1));
  EXPECT_THAT(observer_.elsewhere, ElementsAre("0 theirs.00000000.2.2 was ours"));
  EXPECT_THAT(observer_.finished, SizeIs(3));
}

TEST_F(LeasedTest, AnUnmountedStoreIsAnErrorAndFailsNoAction) {
  engine_.capacity_of.cpu_threads = 1;
  const Plan plan = MakePlanOf("seed: [0, 1]");
  for (const Action& action : plan.actions) engine_.failing_keys.insert(action.key);
  engine_.failure = absl::UnavailableError("cannot create x: No such file or directory");
  engine_.on_wait = [&] {
    if (engine_.waits > 1) return;
    EXPECT_TRUE(ours_->IsStoreThere());
    std::filesystem::rename(store_.folder(), store_.folder() + ".away");
    std::filesystem::create_directory(store_.folder());
    EXPECT_FALSE(ours_->IsStoreThere());
  };
  const absl::Status status = Run(plan);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is full or missing: cannot "));
  EXPECT_THAT(engine_.started, SizeIs(1));
  EXPECT_THAT(observer_.failed, IsEmpty());
  EXPECT_THAT(observer_.retries, IsEmpty());
  EXPECT_TRUE(store_.KeysOfFailures()->empty());
}

TEST_F(LeasedTest, WithoutStartsItWaitsForOthersAndReportsWhatIsOpen) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  options_.starts_actions = false;
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  std::vector<OpenWork> looks;
  // Other processes make the open actions, one at each poll.
  options_.on_open_work = [&](const OpenWork& work) {
    looks.push_back(work);
    if (!work.open.empty()) Make(plan[work.open[0]]);
    if (work.open.empty() && !work.held.empty()) {
      Make(plan[work.held[0]]);
      theirs_->Release(plan.actions[0].key);
    }
    return absl::OkStatus();
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), IsEmpty());
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_THAT(looks[0].held, ElementsAre(plan.actions[0].id));
  EXPECT_THAT(looks[0].open, ElementsAre(plan.actions[3].id));
  EXPECT_EQ(looks[0].ended, 0);
  EXPECT_GE(looks.back().ended, 5);
}

TEST_F(LeasedTest, WithAnIdleTimeoutOfZeroItLooksOnce) {
  options_.starts_actions = false;
  options_.idle_timeout = absl::ZeroDuration();
  int looks = 0;
  options_.on_open_work = [&](const OpenWork&) { return ++looks, absl::OkStatus(); };
  ASSERT_TRUE(Run(MakePlanOf("seed: [0, 1]")).ok());
  EXPECT_EQ(looks, 1);
  EXPECT_THAT(observer_.finished, IsEmpty());
}

TEST_F(LeasedTest, IdleItEndsIfOthersHaveAllRemainingActions) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  options_.idle_timeout = absl::Milliseconds(50);
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
  EXPECT_FALSE(*plan.IsInStore(plan.actions[0], store_));
}

TEST_F(LeasedTest, IdleItDoesActionsThatBecomeReadyInTime) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  options_.idle_timeout = absl::Minutes(1);
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    theirs_->Release(plan.actions[0].key);
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
}

TEST_F(LeasedTest, AnErrorAboutOpenWorkEndsTheRun) {
  options_.starts_actions = false;
  options_.on_open_work = [](const OpenWork&) { return absl::FailedPreconditionError("no such partition"); };
  EXPECT_EQ(Run(MakePlanOf("seed: 0")), absl::FailedPreconditionError("no such partition"));
}

TEST_F(LeasedTest, LaterProcessesDoNotRetryActionsThatFailedInThisRun) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  FailureRecord failure;
  failure.set_schema_version(kSchemaVersion);
  failure.set_code(static_cast<int>(absl::StatusCode::kAborted));
  failure.set_message("it diverged");
  for (const size_t training : {0, 3}) {
    failure.set_key(plan.actions[training].key);
    ASSERT_TRUE(store_.WriteFailure(failure).ok());
  }
  const FailuresBefore before = {{plan.actions[3].key, 1}};
  options_.failures_before = &before;
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
  EXPECT_THAT(observer_.failed, ElementsAre(plan.actions[0].id));
}

}  // namespace
}  // namespace openset
