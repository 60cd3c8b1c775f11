#include "experiments/engine/leaving_workers.h"

#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::MatchesRegex;

std::unique_ptr<Subprocess> Sleeper() {
  return *Subprocess::Start({"/bin/sh", "-c", "exec sleep 1000"}, {}, testing::TempDir() + "/sleeper.log");
}

absl::StatusOr<std::vector<pid_t>> CannotTell(int) { return absl::NotFoundError("no GPU driver"); }

bool BecomesFree(LeavingWorkers* workers, int gpu) {
  for (int look = 0; look < 10000; ++look) {
    if (workers->IsFree(gpu)) return true;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return false;
}

TEST(LeavingWorkers, AGpuIsFreeOnceItsProcessesHaveEnded) {
  LeavingWorkers workers(CannotTell, absl::Hours(1));
  EXPECT_TRUE(workers.IsFree(0));
  std::unique_ptr<Subprocess> worker = Sleeper();
  const pid_t group = worker->pid();
  workers.Add(0, std::move(worker));
  EXPECT_TRUE(BecomesFree(&workers, 0));
  EXPECT_NE(kill(-group, 0), 0);
}

TEST(LeavingWorkers, AGpuIsFreeOnceTheDriverListsNoneOfThem) {
  std::vector<pid_t> on_gpu;
  int asked = 0;
  const auto driver = [&](int gpu) -> absl::StatusOr<std::vector<pid_t>> {
    EXPECT_EQ(gpu, 3);
    ++asked;
    return on_gpu;
  };
  LeavingWorkers workers(driver, absl::Hours(1));
  std::unique_ptr<Subprocess> worker = Sleeper();
  on_gpu = {getpid(), worker->pid()};
  worker->Kill(SIGKILL);
  worker->Wait();
  workers.Add(3, std::move(worker));
  EXPECT_FALSE(workers.IsFree(3));
  EXPECT_TRUE(workers.IsFree(4));
  EXPECT_TRUE(workers.Lost(3).ok());
  on_gpu = {getpid()};  // processes of others don't matter
  EXPECT_TRUE(BecomesFree(&workers, 3));
  // Workers that have left are not checked again.
  const int before = asked;
  EXPECT_TRUE(workers.IsFree(3));
  EXPECT_EQ(asked, before);
}

TEST(LeavingWorkers, AGpuThatIsNotLeftInTimeIsLost) {
  std::vector<pid_t> on_gpu;
  LeavingWorkers workers([&on_gpu](int) -> absl::StatusOr<std::vector<pid_t>> { return on_gpu; }, absl::ZeroDuration());
  std::unique_ptr<Subprocess> worker = Sleeper();
  on_gpu = {worker->pid()};
  workers.Add(0, std::move(worker));
  EXPECT_FALSE(workers.IsFree(0));
  EXPECT_EQ(workers.Lost(0).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(workers.Lost(0).message()),
              MatchesRegex("GPU 0 is no longer used: worker [0-9]+, which was killed 0 ago, .*nvidia-smi."));
  on_gpu.clear();
  EXPECT_FALSE(workers.IsFree(0)) << "for good";
  EXPECT_TRUE(workers.IsFree(1));
  EXPECT_TRUE(workers.Lost(1).ok());
}

}  // namespace
}  // namespace openset
