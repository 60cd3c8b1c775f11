#include "experiments/engine/claims/claims.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "experiments/testing/execute_plan_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

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
  EXPECT_EQ(found.fate, Fate::kTheirs);
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
  EXPECT_THAT(ours.LookAtLeft(), ElementsAre(Pair(train_, Fate::kOpen)));
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kOpen);
  EXPECT_THAT(ours.LookAtLeft(), ElementsAre(Pair(train_, Fate::kTheirs)));
  Train();
  theirs.Release(train_);
  EXPECT_THAT(ours.LookAtLeft(), ElementsAre(Pair(train_, Fate::kDone)));
  EXPECT_THAT(ours.LookAtLeft(), IsEmpty());  // told once
  ours.LeaveTo(train_);
  ours.TakeBack(train_);
  EXPECT_THAT(ours.LookAtLeft(), IsEmpty());
}

TEST_F(ClaimsTest, AFailureElsewhereCountsUnlessItIsRetried) {
  Claims ours = Ours();
  ours.LeaveTo(train_, "theirs.00000000.2.2");
  Fail(/*retried=*/true);
  EXPECT_THAT(ours.LookAtLeft(), ElementsAre(Pair(train_, Fate::kOpen)));
  Fail(/*retried=*/false);
  EXPECT_THAT(ours.LookAtLeft(), ElementsAre(Pair(train_, Fate::kFailed)));
  EXPECT_THAT(ours.LookAtLeft(), IsEmpty());
  EXPECT_EQ(ours.WhyFailed(train_).code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(ours.WhyFailed(train_).message()), HasSubstr("it diverged"));
  EXPECT_THAT(std::string(ours.WhyFailed(train_).message()), HasSubstr(RunName("theirs.00000000.2.2")));
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
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kTheirs);  // from now on, it measures the time
  now_ += 2 * kLongestLease;
  ASSERT_EQ(theirs.TryClaim(train_)->fate, Fate::kOpen);
  EXPECT_THAT(ours.TakeLost({train_}), ElementsAre(Pair(train_, "theirs.00000000.2.2")));
  EXPECT_THAT(ours.TakeLost({plan_.actions[1].id}), IsEmpty());  // not running here
}

}  // namespace
}  // namespace openset
