#include "experiments/worker/more_threads.h"

#include <limits>

#include "absl/synchronization/notification.h"
#include "core/in_parallel.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// The second look after the message comes after the limit was raised.
TEST(MoreThreads, RaisesTheLimitWhenWordComes) {
  const int cpus = NumThreads();
  WorkRequest request;
  request.set_cpu_slots(1);
  absl::Notification asked, raised;
  int looks = 0;  // since it was asked
  const StopAsked look = [&] {
    if (asked.HasBeenNotified() && ++looks == 1) request.set_cpu_slots(std::numeric_limits<int>::max());
    if (looks == 2) raised.Notify();
    return false;
  };
  {
    const MoreThreads more(request, look);
    EXPECT_EQ(NumThreads(), 1);
    asked.Notify();
    raised.WaitForNotification();
    EXPECT_EQ(NumThreads(), cpus);
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
