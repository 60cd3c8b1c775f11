#include "tools/cli/run/run_lines.h"

#include "core/text/one_line.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(RunLines, DurationsHaveTwoUnits) {
  EXPECT_EQ(ShortDuration(absl::Seconds(9.4)), "9s");
  EXPECT_EQ(ShortDuration(absl::Seconds(125)), "2m05s");
  EXPECT_EQ(ShortDuration(absl::Minutes(67)), "1h07m");
}

TEST(RunLines, AVariantHasItsOwnName) {
  RunState run;
  run.set_experiment("sweep");
  run.set_id("no name of a process");
  EXPECT_EQ(StudyText(run), "sweep");
  EXPECT_EQ(RunnerText(run), "no name of a process");
  run.add_laid_over("--set=training.epochs=2");
  run.set_user_name("anna\n");
  EXPECT_EQ(StudyText(run), "sweep --set=training.epochs=2");
  EXPECT_EQ(RunnerText(run), OneLine("anna\n on no name of a process"));
}

TEST(RunLines, TheTotalWithAndWithoutTimeLeft) {
  RunState run;
  run.set_ended(3);
  run.set_actions(12);
  run.set_fraction(0.339);
  EXPECT_EQ(TotalLine(run), "3/12 actions, 34 %");
  run.set_seconds_left(725);
  EXPECT_EQ(BarLine(run, 10), "[###.......] 3/12 actions, 34 %, 12m05s left");
  run.set_left_is_rough(true);
  EXPECT_EQ(TotalLine(run), "3/12 actions, 34 %, roughly 12m05s left");
  run.set_left_is_rough(false);
  run.set_failed(1);
  EXPECT_EQ(TotalLine(run), "3/12 actions, 34 %, 12m05s left, 1 failed");
  run.set_fraction(1.0000001);
  EXPECT_EQ(BarLine(run, 4).substr(0, 6), "[####]");
}

TEST(RunLines, ShowsTheStateOfATraining) {
  RunningAction action;
  action.set_kind("train");
  action.set_description("openauc on task, split 1, seed 0");
  EXPECT_EQ(ActionLine(action), "train openauc on task, split 1, seed 0");
  action.set_fraction(0.25);
  EXPECT_EQ(ActionLine(action), "train openauc on task, split 1, seed 0: 25 %");
  action.set_epoch(3);
  action.set_epochs(20);
  action.set_loss(0.4123);
  action.set_metric("accuracy");
  action.set_metric_value(0.8812);
  action.set_images_per_second(1234.4);
  action.set_attempt(2);
  EXPECT_EQ(ActionLine(action),
            "train openauc on task, split 1, seed 0: epoch 3/20, loss 0.412, accuracy 0.881, 1234 images/s, attempt 2");
  action.set_elsewhere("node7, process 77");
  EXPECT_EQ(ActionLine(action), "train openauc on task, split 1, seed 0: by node7, process 77");
}

TEST(RunLines, ShortenedTextsEndWithDots) {
  EXPECT_EQ(Shortened("0123456789", 10), "0123456789");
  EXPECT_EQ(Shortened("0123456789", 9), "012345...");
}

}  // namespace
}  // namespace openset
