#include "experiments/engine/run_progress.h"

#include "experiments/spec/method.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Two trials, each with a training of 999 + 1 units of work, an inference of 99 + 1 and an evaluation of 0 + 1.
Plan TwoTrials() {
  Plan plan;
  for (int t = 0; t < 2; ++t) {
    TrialSpec trial;
    trial.set_task("task");
    trial.mutable_method()->set_name("softmax");
    trial.set_seed(t);
    plan.trials.emplace_back(trial);
    for (const auto& [kind, work] : {std::pair<ActionKind, int64_t>{ActionKind::kTrain, 999},
                                     {ActionKind::kInfer, 99},
                                     {ActionKind::kEvaluate, 0}}) {
      Action action;
      action.kind = kind;
      action.trials = {t};
      action.state = ActionState::kNeeded;
      action.work = work;
      plan.Add(action);
    }
  }
  return plan;
}

class RunProgressTest : public ::testing::Test {
 protected:
  static WorkProgress At(double fraction) {
    WorkProgress progress;
    progress.set_fraction(fraction);
    return progress;
  }

  double Left() const { return absl::ToDoubleSeconds(*progress_.TimeLeft()); }

  const Plan plan_ = TwoTrials();
  absl::Duration now_ = absl::Hours(5);
  RunProgress progress_{plan_, [this] { return now_; }};
};

TEST_F(RunProgressTest, NothingIsKnownBeforeAnythingIsDone) {
  EXPECT_EQ(progress_.total(), 6);
  EXPECT_FALSE(progress_.TimeLeft().has_value());
  progress_.Start(ActionId{0});
  EXPECT_FALSE(progress_.TimeLeft().has_value());
  progress_.Advance(ActionId{0}, At(0));
  now_ += absl::Seconds(1);
  progress_.Advance(ActionId{0}, At(0.1));
  EXPECT_FALSE(progress_.TimeLeft().has_value());  // too little to estimate from
}

// 2 x (1000 + 100 + 1) units at half a second each, two at a time; then the measured pace.
TEST_F(RunProgressTest, BeginsAtTheExpectedPace) {
  RunProgress progress(plan_, [this] { return now_; }, {0.5, 2});
  EXPECT_NEAR(absl::ToDoubleSeconds(*progress.TimeLeft()), 550.5, 1e-9);
  progress.Start(ActionId{0});
  progress.Advance(ActionId{0}, At(0));
  EXPECT_NEAR(absl::ToDoubleSeconds(*progress.TimeLeft()), 550.5, 1e-9);
  now_ += absl::Seconds(9);
  progress.Advance(ActionId{0}, At(0.1));
  // Too early for a measured pace: 100 of 2202 units are done.
  EXPECT_NEAR(absl::ToDoubleSeconds(*progress.TimeLeft()), 525.5, 1e-9);
  now_ += absl::Seconds(1);
  // 100 units in 10 s, and one action at a time: 2202 - 100 units at 0.1 s.
  EXPECT_NEAR(absl::ToDoubleSeconds(*progress.TimeLeft()), 210.2, 1e-9);
}

// A rough guess is marked as one, and measurements replace it sooner than a measured pace.
TEST_F(RunProgressTest, ARoughPaceIsMarkedAndSoonReplaced) {
  RunProgress progress(plan_, [this] { return now_; }, {0.5, 2, /*is_rough=*/true});
  const auto state = [&progress] {
    RunState described;
    progress.Describe(&described);
    return described;
  };
  EXPECT_NEAR(state().seconds_left(), 550.5, 1e-9);
  EXPECT_TRUE(state().left_is_rough());
  progress.Start(ActionId{0});
  progress.Advance(ActionId{0}, At(0));
  now_ += absl::Seconds(2);
  progress.Advance(ActionId{0}, At(0.1));
  EXPECT_NEAR(state().seconds_left(), (2202 - 100) * 0.02, 1e-9);
  EXPECT_FALSE(state().left_is_rough());
}

TEST_F(RunProgressTest, MeasuresEachKindFromItsOwnActions) {
  progress_.Start(ActionId{0});
  progress_.Advance(ActionId{0}, At(0));
  now_ += absl::Seconds(10);
  progress_.Advance(ActionId{0}, At(0.1));
  // 100 units in 10 s; 2 * (1000 + 100 + 1) - 100 are left.
  EXPECT_NEAR(Left(), 210.2, 1e-6);
  now_ += absl::Seconds(90);
  progress_.Finish(ActionId{0});
  EXPECT_FALSE(progress_.TimeOf(ActionId{0}).has_value());
  EXPECT_NEAR(Left(), 0.1 * (1000 + 2 * 101), 1e-6);
  // An inference's unit takes 0.5 s, and an evaluation 2 s.
  progress_.Start(ActionId{1});
  now_ += absl::Seconds(50);
  progress_.Finish(ActionId{1});
  progress_.Start(ActionId{2});
  now_ += absl::Seconds(2);
  EXPECT_EQ(progress_.TimeOf(ActionId{2}), absl::Seconds(2));
  progress_.Finish(ActionId{2});
  EXPECT_NEAR(Left(), 100 + 50 + 2, 1e-6);
  EXPECT_EQ(progress_.ended(), 3);
}

TEST_F(RunProgressTest, AResumedTrainingCountsOnlyItsNewWork) {
  progress_.Start(ActionId{0});
  progress_.Advance(ActionId{0}, At(0.5));
  now_ += absl::Seconds(10);
  progress_.Advance(ActionId{0}, At(0.6));
  EXPECT_NEAR(Left(), 0.1 * (2 * 1101 - 600), 1e-6);
}

// A worker takes seconds to start and to load what was saved. One step in that time is no pace.
TEST_F(RunProgressTest, TheStartOfTheWorkerIsNoPartOfThePace) {
  progress_.Start(ActionId{0});
  now_ += absl::Seconds(8);
  progress_.Advance(ActionId{0}, At(0.002));
  now_ += absl::Seconds(1);
  progress_.Advance(ActionId{0}, At(0.003));
  EXPECT_FALSE(progress_.TimeLeft().has_value());
  now_ += absl::Seconds(9);
  progress_.Advance(ActionId{0}, At(0.102));
  // 100 units in 10 s.
  EXPECT_NEAR(Left(), 0.1 * (2 * 1101 - 102), 1e-6);
}

// The first trial's training is by a command: 3.5 of 6 actions.
TEST_F(RunProgressTest, ACommandMayTakeAnyTime) {
  Plan plan = plan_;
  TrialSpec trial = plan.trials[0].Spec();
  trial.mutable_method()->mutable_training()->mutable_command()->set_run("train");
  plan.trials[0] = openset::Trial(trial);
  plan.actions[0].work = 0;
  RunProgress progress(plan, [this] { return now_; }, {0.5, 1});
  EXPECT_FALSE(progress.TimeLeft().has_value());
  for (const int id : {3, 4, 5}) {
    progress.Start(ActionId{id});
    now_ += absl::Seconds(10);
    progress.Finish(ActionId{id});
  }
  EXPECT_FALSE(progress.TimeLeft().has_value());
  progress.Start(ActionId{0});
  progress.Advance(ActionId{0}, At(0.5));
  RunState state;
  progress.Describe(&state);
  EXPECT_DOUBLE_EQ(state.fraction(), 3.5 / 6);
  EXPECT_FALSE(state.has_seconds_left());
  now_ += absl::Seconds(1000);
  progress.Finish(ActionId{0});
  // An inference of 100 units took 10 s, and an evaluation as long; the command's time says nothing about them.
  EXPECT_NEAR(absl::ToDoubleSeconds(*progress.TimeLeft()), 20, 1e-9);
}

TEST_F(RunProgressTest, ConcurrentActionsShareTheWorkButNoneIsSplit) {
  progress_.Start(ActionId{0});
  progress_.Start(ActionId{3});
  progress_.Advance(ActionId{0}, At(0));
  progress_.Advance(ActionId{3}, At(0));
  now_ += absl::Seconds(10);
  progress_.Advance(ActionId{0}, At(0.1));
  progress_.Advance(ActionId{3}, At(0.1));
  EXPECT_NEAR(Left(), 0.1 * (2 * 1101 - 200) / 2, 1e-6);
  now_ += absl::Seconds(90);
  progress_.Finish(ActionId{0});
  for (const int skipped : {1, 2, 4, 5}) progress_.Skip(ActionId{skipped});
  // One is left; half of the seats stay empty.
  progress_.Advance(ActionId{3}, At(0.9));
  EXPECT_NEAR(Left(), 100 * (100 + 100) / 1900.0, 1e-9);
}

TEST_F(RunProgressTest, DescribesRunningActions) {
  progress_.Start(ActionId{0});
  WorkProgress training = At(0.25);
  training.set_epoch(3);
  training.set_epochs(8);
  training.set_loss(0.5);
  progress_.Advance(ActionId{0}, training);
  progress_.WaitFor(ActionId{3}, "host.0123abcd.77.1");
  RunState state;
  progress_.Describe(&state);
  EXPECT_EQ(state.actions(), 6);
  EXPECT_DOUBLE_EQ(state.fraction(), 250 / 2202.0);
  ASSERT_EQ(state.running_size(), 2);
  EXPECT_EQ(state.running(0).kind(), "train");
  EXPECT_EQ(state.running(0).progress().epoch(), 3);
  EXPECT_EQ(state.running(0).progress().loss(), 0.5);
  EXPECT_EQ(state.running(0).attempt(), 0);
  EXPECT_EQ(state.running(1).elsewhere(), "host, process 77");

  progress_.Retry(ActionId{0});
  progress_.Start(ActionId{0});
  progress_.Fail(ActionId{0});
  progress_.Start(ActionId{0});
  RunState later;
  progress_.Describe(&later);
  EXPECT_EQ(later.failed(), 1);
  EXPECT_EQ(later.running(0).attempt(), 2);
}

}  // namespace
}  // namespace openset
