// ExecutePlan() with two processes on one store.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/small_disk.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/store/processes/leases.h"
#include "experiments/testing/execute_plan_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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
    options_.look = absl::Milliseconds(1);
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
  options_.retry.retries = 3;
  options_.retry.first_wait = absl::Milliseconds(1);
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

// Gives up the open actions, if requested.
class FakeHelpers : public Helpers {
 public:
  absl::StatusOr<std::map<ActionId, absl::Status>> Find(const LeftWork& left) override {
    ++asked;
    last = left;
    std::map<ActionId, absl::Status> given_up;
    if (gives_up) {
      for (const ActionId id : left.open) given_up[id] = absl::UnavailableError("nobody is left");
    }
    if (on_find) on_find();
    if (!failure.ok()) return failure;
    return given_up;
  }

  int asked = 0;
  LeftWork last;
  bool gives_up = false;
  absl::Status failure;
  std::function<void()> on_find;
};

bool IsInference(const Action& action) { return action.kind == ActionKind::kInfer; }

TEST_F(LeasedTest, WaitsForAndUsesActionsThatItDoesNotTake) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  options_.takes = IsInference;
  FakeHelpers helpers;
  options_.helpers = &helpers;
  // Other processes make the open actions, one at each look.
  helpers.on_find = [&] {
    if (!helpers.last.open.empty()) Make(plan[helpers.last.open[0]]);
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("infer", "infer"));
  EXPECT_THAT(observer_.finished, SizeIs(6));
  EXPECT_EQ(helpers.last.leases, ours_.get());
}

TEST_F(LeasedTest, ReportsOpenAndHeldActionsToHelpers) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  options_.takes = IsInference;
  options_.patience = absl::ZeroDuration();
  FakeHelpers helpers;
  options_.helpers = &helpers;
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_EQ(helpers.asked, 1);
  EXPECT_THAT(helpers.last.held, ElementsAre(plan.actions[0].id));
  EXPECT_THAT(helpers.last.open, ElementsAre(plan.actions[3].id));
  EXPECT_THAT(observer_.finished, IsEmpty());
}

TEST_F(LeasedTest, WithPatienceEndsIfOthersHaveAllRemainingActions) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  options_.patience = absl::Milliseconds(50);
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
  EXPECT_FALSE(*plan.IsInStore(plan.actions[0], store_));
}

TEST_F(LeasedTest, WithPatienceDoesActionsThatBecomeReadyInTime) {
  const Plan plan = MakePlanOf("seed: 0");
  ASSERT_EQ(*theirs_->TryClaim({plan.actions[0].key}), "");
  options_.patience = absl::Minutes(1);
  engine_.on_wait = [&] {
    if (engine_.waits != 20) return;
    theirs_->Release(plan.actions[0].key);
  };
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "infer", "evaluate"));
}

TEST_F(LeasedTest, BeforeEndingTakesUnclaimedActionsOneAtATime) {
  const Plan plan = MakePlanOf("seed: [0, 1]");
  options_.takes = [](const Action& action) { return !IsInference(action); };
  options_.takes_rather_than_end = IsInference;
  options_.patience = absl::Milliseconds(20);
  engine_.capacity_of.cpu_threads = 8;
  ASSERT_TRUE(Run(plan).ok());
  EXPECT_THAT(Kinds(), ElementsAre("train", "train", "infer", "evaluate", "infer", "evaluate"));
}

TEST_F(LeasedTest, ActionsThatHelpersGiveUpHaveFailed) {
  const Plan plan = MakePlanOf("seed: 0");
  options_.takes = IsInference;
  FakeHelpers helpers;
  helpers.gives_up = true;
  options_.helpers = &helpers;
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_THAT(observer_.skipped, SizeIs(2));
  EXPECT_EQ(store_.LoadFailure(plan.actions[0].key)->message(), "nobody is left");
}

TEST_F(LeasedTest, AnErrorOfHelpersEndsTheRun) {
  options_.takes = IsInference;
  FakeHelpers helpers;
  helpers.failure = absl::FailedPreconditionError("no such partition");
  options_.helpers = &helpers;
  EXPECT_EQ(Run(MakePlanOf("seed: 0")), helpers.failure);
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
