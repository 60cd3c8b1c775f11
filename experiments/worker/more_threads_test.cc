#include "experiments/worker/more_threads.h"

#include <limits>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/in_parallel.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// Passes when the thread limit arrives; otherwise hangs until the test's time limit.
TEST(MoreThreads, RaisesTheLimitWhenWordComes) {
  const int cpus = NumThreads();
  WorkRequest request;
  request.set_cpu_slots(1);
  absl::Notification asked;
  const StopAsked look = [&] {
    if (asked.HasBeenNotified()) request.set_cpu_slots(std::numeric_limits<int>::max());
    return false;
  };
  {
    const MoreThreads more(request, look);
    EXPECT_EQ(NumThreads(), 1);
    asked.Notify();
    while (NumThreads() < cpus) absl::SleepFor(absl::Milliseconds(1));
  }
  LimitThreads(std::numeric_limits<int>::max());
}

TEST(MoreThreads, IsOneThreadWithoutSlots) {
  const WorkRequest request;
  const StopAsked look = [] { return false; };
  {
    const MoreThreads more(request, look);
    EXPECT_EQ(NumThreads(), 1);
  }
  LimitThreads(std::numeric_limits<int>::max());
}

}  // namespace
}  // namespace openset
