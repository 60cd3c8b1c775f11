// Orchestrators that share a store while each one's wall clock jumps back and forth by an hour, twenty times a second.
// Leases use other clocks, so this must not matter. Prints what was tried. OPENSET_FAULTS=long runs as many cases as
// the project documents.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <vector>

#include "absl/time/clock.h"
#include "core/process/steady_clock.h"
#include "core/random.h"
#include "core/testing/fault_rounds.h"
#include "experiments/testing/engine_faults_scene.h"
#include "gtest/gtest.h"

namespace {

constexpr int64_t kHourSeconds = 3600;

timespec ClockOfTheKernel(clockid_t clock) {
  timespec time = {};
  syscall(SYS_clock_gettime, clock, &time);
  return time;
}

timespec SteppingClock() {
  timespec time = ClockOfTheKernel(CLOCK_REALTIME);
  const timespec steady = ClockOfTheKernel(CLOCK_MONOTONIC);
  const int64_t step = steady.tv_sec * 20 + steady.tv_nsec / 50000000;
  time.tv_sec += kHourSeconds * ((step * 7 + getpid()) % 3 - 1);  // differs between processes
  return time;
}

}  // namespace

// Replaces the C library's function in this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  *time = clock == CLOCK_REALTIME ? SteppingClock() : ClockOfTheKernel(clock);
  return 0;
}
extern "C" time_t time(time_t* out) noexcept {
  const time_t now = SteppingClock().tv_sec;
  if (out != nullptr) *out = now;
  return now;
}
extern "C" int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  const timespec now = SteppingClock();
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

namespace openset {
namespace {

constexpr uint64_t kSeed = 1;  // of the random moments

// Checks the tests' own clock.
TEST(SteppingClock, StepsWhileTheSteadyClockDoesNot) {
  const absl::Duration start = SteadyNow();
  int steps = 0;
  absl::Time last = absl::Now();
  while (steps < 5) {
    usleep(10000);
    const absl::Time now = absl::Now();
    steps += now - last > absl::Minutes(50) || last - now > absl::Minutes(50);
    last = now;
  }
  EXPECT_GT(SteadyNow(), start);
  EXPECT_LT(SteadyNow(), start + absl::Minutes(30));
}

TEST_F(EngineFaults, RacersWithSteppingClocksDoEachActionOnce) {
  const int rounds = Times(100, 1), trials = Times(500, 60);
  int64_t executed = 0, actions = 0;
  for (int round = 0; round < rounds; ++round) {
    executed += Race(2, Seeds(trials));
    actions += 3 * trials;
  }
  std::printf("R10: 2 orchestrators with clocks that step by an hour, %d rounds: %lld actions done, %lld done twice\n",
              rounds, static_cast<long long>(actions), static_cast<long long>(executed - actions));
  EXPECT_EQ(executed, actions);
}

TEST_F(EngineFaults, ActionsOfAKilledProcessWithASteppingClockAreTakenOver) {
  const int kills = Times(100, 3);
  const std::vector<int> seeds = Seeds(60);
  RandomStream random(kSeed, "kills");
  int killed = 0, completed = 0;
  for (Store store = NewStore(); killed < kills; store = NewStore()) {
    while (true) {
      const Orchestrator run = Start(store, seeds);
      const bool last = killed == kills;
      if (!last) usleep(static_cast<useconds_t>(random.Uniform(60e3, 180e3)));
      if (!last) kill(run.pid, SIGKILL);
      close(run.acknowledged);
      const int code = WaitFor(run.pid);
      if (code == 0) break;
      ASSERT_EQ(code, 128 + SIGKILL);
      ++killed;
    }
    ++completed;
    ExpectNoWorkers();
    ExpectComplete(store, seeds);
    std::filesystem::remove_all(store.folder());
  }
  std::printf("R10: %d orchestrators with such clocks killed, %d stores completed\n", killed, completed);
}

}  // namespace
}  // namespace openset
