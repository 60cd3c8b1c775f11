// Tests which GPU a node gets.
#include <vector>

#include "experiments/engine/scheduler.h"
#include "experiments/testing/numbered_scheduler.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(SchedulerGpuTest, SharesAreOnOneGpuTheFreestFirst) {
  Capacity capacity;
  capacity.gpus = {4, 7};
  capacity.shares_per_gpu = 2;
  NumberedScheduler scheduler(capacity);
  for (int i = 0; i < 3; ++i) scheduler.Add({.gpu_shares = 1}, {.work = 9 - i}, {});
  const ActionId whole = scheduler.Add({.gpu_shares = 5}, {.work = 1}, {});
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_FALSE(scheduler.Next().has_value());  // one share is left
  scheduler.Finished(ActionId{1});
  const auto start = scheduler.Next();
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->action, whole);
  EXPECT_EQ(start->gpu, 7);
  // A node on the CPU needs no share.
  scheduler.Add({.cpu_threads = 1}, {}, {});
  EXPECT_EQ(scheduler.Next()->gpu, -1);
}

TEST(SchedulerGpuTest, AClosedGpuTakesNoOtherNode) {
  Capacity capacity;
  capacity.gpus = {4, 7};
  capacity.shares_per_gpu = 2;
  NumberedScheduler scheduler(capacity);
  std::vector<ActionId> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back(scheduler.Add({.gpu_shares = 1}, {.work = 9 - i}, {}));
  EXPECT_EQ(scheduler.Next()->gpu, 4);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  scheduler.CloseGpuOf(nodes[0]);
  EXPECT_EQ(scheduler.Next()->gpu, 7);
  EXPECT_FALSE(scheduler.Next().has_value()) << "GPU 4 has a share left";
  // The node there ends, and nothing replaces it.
  scheduler.Finished(nodes[0]);
  EXPECT_FALSE(scheduler.Next().has_value());
  scheduler.CloseGpuOf(nodes[2]);
  scheduler.Cancelled(nodes[2]);
  scheduler.Finished(nodes[1]);
  EXPECT_FALSE(scheduler.Next().has_value());
  EXPECT_EQ(scheduler.running(), 0);
  EXPECT_EQ(scheduler.ready(), 4);
  // CPUs are unaffected.
  scheduler.Add({.cpu_threads = 1}, {}, {});
  EXPECT_EQ(scheduler.Next()->gpu, -1);
}

}  // namespace
}  // namespace openset
