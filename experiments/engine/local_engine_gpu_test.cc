// Tests the local engine's handling of GPU workers, with fake workers and GPUs.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/engine/local_engine.h"
#include "experiments/testing/local_engine_scene.h"

namespace openset {
namespace {

using LocalEngineGpuTest = LocalEngineTest;

TEST_F(LocalEngineGpuTest, NeedsTheDeviceTheTrialAsksFor) {
  more_ = "execution { device: CUDA }";
  EXPECT_THAT(Run(MakePlanOf("0")), IsFailedPrecondition("--devices=cuda:0"));
  EXPECT_TRUE(Executed().empty());

  // The fake worker needs no real GPU: one action at a time on each device.
  options_.capacity.gpus = {0, 1};
  ASSERT_TRUE(Run(MakePlanOf("0, 1, 2")).ok());
  EXPECT_EQ(observer_.finished.size(), 9);
}

// Returns the ids of all workers so far: the fake driver still lists them on the GPU.
std::vector<pid_t> PidsOf(const std::vector<std::string>& executed) {
  std::vector<pid_t> pids;
  for (const std::string& line : executed) pids.push_back(std::stoi(line.substr(line.find(' '))));
  return pids;
}

TEST_F(LocalEngineGpuTest, AGpuIsUsedAgainWhenADeadWorkerHasLeftIt) {
  more_ = "execution { device: CUDA }";
  options_.capacity.gpus = {0};
  execute_.deploy.set_retries(1);
  int looks = 0;
  options_.processes_on_gpu = [&](int) -> absl::StatusOr<std::vector<pid_t>> {
    EXPECT_EQ(Executed().size(), 1) << "started before the GPU was free";
    return ++looks < 3 ? PidsOf(Executed()) : std::vector<pid_t>();
  };
  const Plan plan = MakePlanOf(absl::StrCat(kCrashOnceSeed));
  ASSERT_THAT(Run(plan), IsOk());
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(Records(plan), 1);
  EXPECT_THAT(observer_.lost_gpus, IsEmpty());
}

TEST_F(LocalEngineGpuTest, AGpuIsNotUsedAgainIfADeadWorkerStays) {
  more_ = "execution { device: CUDA }";
  options_.capacity.gpus = {0, 1};
  options_.leave = absl::Milliseconds(100);
  options_.processes_on_gpu = [&](int) -> absl::StatusOr<std::vector<pid_t>> { return PidsOf(Executed()); };
  const Plan plan = MakePlanOf(absl::StrCat(kCrashSeed, ", 0, 1, 2, 3"));
  EXPECT_EQ(Run(plan), absl::AbortedError("1 action failed"));
  EXPECT_EQ(Records(plan), 4);
  EXPECT_THAT(observer_.lost_gpus, ElementsAre(HasSubstr("GPU 0 is no longer used: worker ")));
}

TEST_F(LocalEngineGpuTest, ActionsThatWaitForAGpuCanBeStopped) {
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  options_.processes_on_gpu = [&](int) -> absl::StatusOr<std::vector<pid_t>> { return PidsOf(Executed()); };
  LocalEngine engine(store_, options_);
  const Plan plan = MakePlanOf(absl::StrCat(kCrashSeed));
  const WorkRequest training = plan.RequestOf(plan.actions[0]);
  ASSERT_THAT(engine.Start(ActionId{0}, /*gpu=*/0, training), IsOk());
  std::vector<EngineEvent> events;
  while (events.empty()) events = engine.Wait(/*wake=*/-1, absl::Seconds(1));
  ASSERT_TRUE(absl::IsUnavailable(*events[0].end));
  ASSERT_THAT(engine.Start(ActionId{1}, /*gpu=*/0, training), IsOk());
  ASSERT_THAT(engine.Start(ActionId{2}, /*gpu=*/0, training), IsOk());
  EXPECT_THAT(engine.Wait(/*wake=*/-1, absl::ZeroDuration()), IsEmpty());
  engine.Kill(ActionId{1});
  engine.AskToStop(ActionId{2});
  events = engine.Wait(/*wake=*/-1, absl::ZeroDuration());
  ASSERT_EQ(events.size(), 1);
  EXPECT_EQ(events[0].action, ActionId{2});
  EXPECT_TRUE(absl::IsCancelled(*events[0].end));
  EXPECT_EQ(Executed().size(), 1);
}

// The process that threw gets no more work; the same training continues in another.
TEST_F(LocalEngineGpuTest, AWorkerWithAFailedDeviceIsReplacedForTheRetry) {
  for (const auto& [seed, message] :
       {std::pair{kBrokenDeviceSeed, "the device failed"}, {kNoMemorySeed, "out of memory"}}) {
    for (const bool gpu : {false, true}) {
      SCOPED_TRACE(absl::StrCat(message, gpu ? " on a GPU" : ""));
      std::filesystem::remove_all(store_.folder());
      observer_.retried.clear();
      execute_.deploy.set_retries(1);
      options_.capacity.cpu_threads = 1;
      if (gpu) options_.capacity.gpus = {0};
      more_ = gpu ? "execution { device: CUDA }" : "";
      const Plan plan = MakePlanOf(absl::StrCat(seed));
      ASSERT_THAT(Run(plan), IsOk());
      EXPECT_THAT(observer_.retried, ElementsAre(message));
      EXPECT_EQ(Records(plan), 1);
      const std::vector<std::string> executed = Executed();  // train, train again, infer, evaluate
      ASSERT_EQ(executed.size(), 4);
      EXPECT_NE(executed[0], executed[1]);
      EXPECT_THAT(executed[2], EndsWith(executed[1].substr(executed[1].find(' '))));
    }
  }
}

// A process that waits for a GPU uses the CPU: this is not a sign of life.
TEST_F(LocalEngineGpuTest, ASpinningWorkerCountsAsHangingOnAGpuOnly) {
  options_.hang = absl::Seconds(2);
  const Plan plan = MakePlanOf(absl::StrCat(kSpinningSeed));
  for (const int gpu : {-1, 0}) {
    SCOPED_TRACE(gpu);
    LocalEngine engine(store_, options_);
    ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
    ASSERT_THAT(engine.Start(ActionId{0}, gpu, plan.RequestOf(plan.actions[0])), IsOk());
    std::optional<absl::Status> end;
    const absl::Time start = absl::Now();
    while (!end.has_value() && (gpu >= 0 || absl::Now() - start < 2 * options_.hang)) {
      for (const EngineEvent& event : engine.Wait(/*wake=*/-1, absl::Milliseconds(100))) end = event.end;
    }
    EXPECT_EQ(end.has_value(), gpu >= 0);
    if (gpu >= 0) {
      EXPECT_THAT(*end, StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("gave no sign of life")));
    }
  }
}

TEST_F(LocalEngineGpuTest, GpuWorkersUseExpandableSegmentsByDefault) {
  const std::string file = sandbox_.folder() + "/environment";
  options_.trainer = {"/bin/sh", "-c", absl::StrCat("env > ", file)};
  const Plan plan = MakePlanOf("0");
  ASSERT_THAT(MakeFolders(store_.folder()), IsOk());
  const auto environment = [&](int gpu) {
    LocalEngine engine(store_, options_);
    EXPECT_THAT(engine.Start(ActionId{0}, gpu, plan.RequestOf(plan.actions[0])), IsOk());
    std::vector<EngineEvent> events;
    while (events.empty()) events = engine.Wait(/*wake=*/-1, absl::Seconds(1));
    return *ReadFile(file);
  };
  unsetenv("PYTORCH_ALLOC_CONF");
  unsetenv("PYTORCH_CUDA_ALLOC_CONF");
  EXPECT_THAT(environment(0), HasSubstr("PYTORCH_ALLOC_CONF=expandable_segments:True"));
  EXPECT_THAT(environment(-1), Not(HasSubstr("expandable_segments")));
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    setenv(name, "max_split_size_mb:64", /*overwrite=*/1);
    EXPECT_THAT(environment(0),
                AllOf(HasSubstr(absl::StrCat(name, "=max_split_size_mb:64")), Not(HasSubstr("expandable_segments"))));
    unsetenv(name);
  }
}

}  // namespace
}  // namespace openset
