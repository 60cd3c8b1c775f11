#include "tools/cli/run/run_display.h"

#include <sstream>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "core/text/one_line.h"
#include "experiments/store/store.h"

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
  run.add_overrides("--set=training.epochs=2");
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
  run.set_fraction(0.999);
  EXPECT_THAT(TotalLine(run), testing::StartsWith("3/12 actions, 99 %"));
  run.set_fraction(0.34);
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
  WorkProgress& progress = *action.mutable_progress();
  progress.set_fraction(0.25);
  EXPECT_EQ(ActionLine(action), "train openauc on task, split 1, seed 0: 25 %");
  progress.set_epoch(3);
  progress.set_epochs(20);
  progress.set_loss(0.4123);
  progress.set_metric("accuracy");
  progress.set_metric_value(0.8812);
  progress.set_images_per_second(1234.4);
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
    Action action;
    action.kind = kind;
    action.trials = {0};
    action.state = ActionState::kNeeded;
    action.work = work;
    plan.Add(action);
  }
  return plan;
}

TEST(RunDisplay, NamesImports) {
  Plan plan = OneTrial();
  plan.actions[0].role = ActionRole::kImport;
  std::ostringstream out;
  {
    RunDisplay display(plan, {}, &out);
    display.OnStart(ActionId{0});
    display.OnFinish(ActionId{0}, absl::OkStatus());
    display.OnStart(ActionId{0});
    display.OnFinish(ActionId{0}, absl::NotFoundError("no file"));
  }
  EXPECT_THAT(out.str(), MatchesRegex("\\[1/3\\] imported  softmax on task.*\n"
                                      "\\[2/3\\] FAILED to import softmax on task.*: no file\n"));
}

TEST(RunDisplay, PlainOutputHasALineForEachActionAndNoControlCharacters) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  {
    RunDisplay display(plan, {}, &out);
    display.OnStart(ActionId{0});
    WorkProgress progress;
    progress.set_images_per_second(1234);
    display.OnProgress(ActionId{0}, progress);
    display.OnTick();
    display.OnFinish(ActionId{0}, absl::OkStatus());
    display.OnStart(ActionId{1});
    display.OnFinish(ActionId{1}, absl::AbortedError("no memory"));
    display.OnSkip(ActionId{2});
  }
  EXPECT_THAT(out.str(), MatchesRegex("\\[1/3\\] trained   softmax on task.* \\(0s, 1234 images/s\\)\n"
                                      "\\[2/3\\] FAILED to infer softmax on task.*: no memory\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST(RunDisplay, TheTerminalHasALineForEachRunningActionAndABar) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  RunDisplayOptions options;
  int width = 80;
  options.width = [&] { return width; };
  options.clock = [] { return absl::Hours(1); };
  {
    RunDisplay display(plan, options, &out);
    display.OnStart(ActionId{0});
    WorkProgress progress;
    progress.set_fraction(0.5);
    progress.set_epoch(2);
    progress.set_epochs(4);
    progress.set_loss(0.5);
    display.OnProgress(ActionId{0}, progress);
    display.OnTick();
    // Half of 3000 of 4001.
    EXPECT_EQ(out.str(),
              "  train softmax on task, split 0, seed 0: epoch 2/4, loss 0.500\n"
              "[########................] 0/3 actions, 37 %");
    // The next block replaces it, and is no wider than the terminal.
    out.str("");
    width = 30;
    display.OnTick();
    EXPECT_EQ(out.str(), "\r\033[K\033[A\r\033[K  train softmax on task, s...\n[########................]...");
    out.str("");
  }
  EXPECT_EQ(out.str(), "\r\033[K\033[A\r\033[K");
}

TEST(RunDisplay, ALogHasALineEvery30SecondsWithEpochAndTimeLeft) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  absl::Duration now = absl::Hours(1);
  RunDisplayOptions options;
  options.clock = [&] { return now; };
  RunDisplay display(plan, options, &out);
  display.OnStart(ActionId{0});
  WorkProgress progress;
  progress.set_epochs(4);
  for (int second = 0; second <= 60; ++second, now += absl::Seconds(1)) {
    progress.set_fraction(second / 120.0);
    progress.set_epoch(1 + second / 30);
    display.OnProgress(ActionId{0}, progress);
    display.OnTick();
    if (second == 29) {
      EXPECT_EQ(out.str(), "");
    }
  }
  // A third of the work is not training; 3000 units take 120 s.
  EXPECT_EQ(out.str(),
            "0/3 actions, 19 %, 2m10s left | train softmax on task, split 0, seed 0: epoch 2/4\n"
            "0/3 actions, 37 %, 1m40s left | train softmax on task, split 0, seed 0: epoch 3/4\n");
}

TEST(RunDisplay, ReportsOtherProcessesOnce) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  RunDisplay display(plan, {}, &out);
  display.OnElsewhere(ActionId{0}, "node7.0123abcd.77.1", /*was_ours=*/false);
  display.OnElsewhere(ActionId{0}, "node7.0123abcd.77.1", /*was_ours=*/false);
  display.OnFinish(ActionId{0}, absl::OkStatus());
  display.OnStart(ActionId{1});
  display.OnElsewhere(ActionId{1}, "node7.0123abcd.77.1", /*was_ours=*/true);
  EXPECT_EQ(
      out.str(),
      "node7, process 77 runs train softmax on task, split 0, seed 0; this process uses its result\n"
      "[1/3] trained   softmax on task, split 0, seed 0 (by another process)\n"
      "node7, process 77 took over while this process was suspended: infer softmax on task, split 0, seed 0; this "
      "process uses its result\n");
}

TEST(RunDisplay, ReportsRetries) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  RunDisplay display(plan, {}, &out);
  display.OnStart(ActionId{0});
  display.OnRetry(ActionId{0}, absl::UnavailableError("its worker died"), absl::Seconds(4));
  EXPECT_EQ(out.str(), "will be retried in 4s: train softmax on task, split 0, seed 0: its worker died\n");
  RunState state;
  display.OnStart(ActionId{0});
  display.Describe(&state);
  EXPECT_EQ(state.running(0).attempt(), 2);
}

TEST(RunDisplay, NamesTheLogOfAFailedAction) {
  Plan plan = OneTrial();
  plan.actions[0].key = "ab12";
  plan.actions[1].key = "cd34";  // it has no log
  RunDisplayOptions options;
  options.store = testing::TempDir() + "/store";
  const std::string log = Store(options.store).LogPath("ab12");
  ASSERT_TRUE(MakeFolders(Store(options.store).LogFolder()).ok());
  ASSERT_TRUE(WriteFileAtomically(log, "loss 2.3\n").ok());
  std::ostringstream out;
  RunDisplay display(plan, options, &out);
  display.OnStart(ActionId{0});
  display.OnRetry(ActionId{0}, absl::UnavailableError("its worker died"), absl::Seconds(4));
  display.OnStart(ActionId{0});
  display.OnFinish(ActionId{0}, absl::AbortedError("it diverged"));
  display.OnStart(ActionId{1});
  display.OnFinish(ActionId{1}, absl::AbortedError("no memory"));
  const std::string what = "softmax on task, split 0, seed 0";
  EXPECT_EQ(out.str(), absl::StrCat("will be retried in 4s: train ", what, ": its worker died; log: ", log,
                                    "\n[1/3] FAILED to train ", what, ": it diverged; log: ", log,
                                    "\n[2/3] FAILED to infer ", what, ": no memory\n"));
}

TEST(RunDisplay, TheReportIsRefreshedAsRecordsComeButTakesLittleOfTheTime) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  absl::Duration now = absl::Hours(1);
  int refreshed = 0;
  RunDisplayOptions options;
  options.clock = [&] { return now; };
  options.refresh_report = [&] {
    ++refreshed;
    now += absl::Seconds(1);
    return std::string("refreshed");
  };
  RunDisplay display(plan, options, &out);
  now += absl::Minutes(1);
  display.OnTick();
  EXPECT_EQ(refreshed, 0);
  display.OnFinish(ActionId{2}, absl::OkStatus());
  display.OnTick();
  display.OnTick();
  EXPECT_EQ(refreshed, 1);
  display.OnFinish(ActionId{2}, absl::OkStatus());
  now += absl::Seconds(49);
  display.OnTick();
  EXPECT_EQ(refreshed, 1);  // it took a second
  now += absl::Seconds(1);
  display.OnTick();
  EXPECT_EQ(refreshed, 2);
  EXPECT_THAT(out.str(), ::testing::HasSubstr("\nrefreshed\n"));
}

TEST(RunDisplay, ReportsALostGpuOnce) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  RunDisplay display(plan, {}, &out);
  for (int time = 0; time < 2; ++time) {
    display.OnStart(ActionId{0});
    display.OnGpuLost(ActionId{0}, absl::UnavailableError("GPU 0 is no longer used"));
  }
  EXPECT_EQ(out.str(), "GPU 0 is no longer used\n");
  RunState state;
  display.Describe(&state);
  EXPECT_EQ(state.running_size(), 0);
  display.OnStart(ActionId{0});
  display.Describe(&state);
  EXPECT_FALSE(state.running(0).has_attempt()) << "it has not failed";
}

TEST(RunDisplay, ReportsStartFailuresAndTheNextAttempt) {
  const Plan plan = OneTrial();
  std::ostringstream out;
  {
    RunDisplay display(plan, {}, &out);
    display.OnStart(ActionId{0});
    display.OnStartFailure(ActionId{1}, absl::UnavailableError("cannot fork"));
    display.OnFinish(ActionId{0}, absl::OkStatus());
    display.OnStartFailure(ActionId{1}, absl::UnavailableError("cannot fork"));
  }
  EXPECT_THAT(out.str(), MatchesRegex("not started: softmax on task.*: cannot fork; openset retries it when an "
                                      "action ends\n.*\nnot started: softmax on task.*: cannot fork\n"));
}

}  // namespace
}  // namespace openset
