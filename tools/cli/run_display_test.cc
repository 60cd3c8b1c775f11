#include "tools/cli/run_display.h"

#include <sstream>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// One trial of three actions, of which training is 3/4 of the work.
Plan OneTrial() {
  Plan plan;
  TrialSpec trial;
  trial.set_task("task");
  trial.mutable_method()->set_name("softmax");
  plan.trials = {trial};
  for (const auto& [kind, work] : {std::pair<ActionKind, int64_t>{ActionKind::kTrain, 2999},
                                   {ActionKind::kInfer, 999},
                                   {ActionKind::kEvaluate, 0}}) {
    PlanNode node;
    node.kind = kind;
    node.trials = {0};
    node.needed = true;
    node.work = work;
    plan.nodes.push_back(node);
  }
  return plan;
}

TEST(RunDisplay, SaysWhatIsAnImport) {
  Plan plan = OneTrial();
  plan.nodes[0].is_import = true;
  std::ostringstream out;
  {
    RunDisplay display(plan, /*terminal=*/false, &out);
    display.OnStart(0);
    display.OnFinish(0, absl::OkStatus());
    display.OnStart(0);
    display.OnFinish(0, absl::NotFoundError("no file"));
  }
  EXPECT_THAT(out.str(), MatchesRegex("\\[1/3\\] imported  softmax on task.*\n"
                                      "\\[2/3\\] FAILED to import softmax on task.*: no file\n"));
}

TEST(RunDisplay, PlainOutputHasALineForEachActionAndNoControlCharacters) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  {
    RunDisplay display(plan, false, &out);
    display.OnStart(0);
    WorkProgress progress;
    progress.set_images_per_second(1234);
    display.OnProgress(0, progress);
    display.OnTick();
    display.OnFinish(0, absl::OkStatus());
    display.OnStart(1);
    display.OnFinish(1, absl::AbortedError("no memory"));
    display.OnSkip(2);
  }
  EXPECT_THAT(out.str(), MatchesRegex("\\[1/3\\] trained   softmax on task.* \\(0s, 1234 images/s\\)\n"
                                      "\\[2/3\\] FAILED to infer softmax on task.*: no memory\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST(RunDisplay, TheTerminalLineShowsShareAndWhatRuns) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  RunDisplay display(plan, true, &out);
  display.OnStart(0);
  WorkProgress progress;
  progress.set_fraction(0.5);
  progress.set_what("epoch 2/4, loss 0.500");
  display.OnProgress(0, progress);
  display.OnTick();
  // Half of 3000 of 4001.
  EXPECT_THAT(out.str(), HasSubstr("0/3 actions, 37 % | softmax: epoch 2/4, loss 0.500"));
  EXPECT_THAT(out.str(), Not(HasSubstr("left")));  // no rate yet
  display.OnTick();
  EXPECT_THAT(out.str(), HasSubstr("\r\033[K"));
}

TEST(ShortDuration, HasTwoUnits) {
  EXPECT_EQ(ShortDuration(absl::Seconds(9.4)), "9s");
  EXPECT_EQ(ShortDuration(absl::Seconds(125)), "2m05s");
  EXPECT_EQ(ShortDuration(absl::Minutes(67)), "1h07m");
}

TEST(RunDisplay, SaysWhatCouldNotStartAndWhenItIsTriedAgain) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  {
    RunDisplay display(plan, false, &out);
    display.OnStart(0);
    display.OnStartFailure(1, absl::UnavailableError("cannot fork"));
    display.OnFinish(0, absl::OkStatus());
    display.OnStartFailure(1, absl::UnavailableError("cannot fork"));
  }
  EXPECT_THAT(out.str(), MatchesRegex("not started: softmax on task.*: cannot fork; tried again when an action has "
                                      "ended\n.*\nnot started: softmax on task.*: cannot fork\n"));
}

}  // namespace
}  // namespace openset
