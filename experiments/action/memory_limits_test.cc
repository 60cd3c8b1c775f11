#include "experiments/action/memory_limits.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(MemoryLimits, OneKindIsEnoughToBeSet) {
  ActionMemory memory;
  EXPECT_FALSE(IsAnySet(memory));
  memory.set_evaluate_mb(0);
  EXPECT_FALSE(IsAnySet(memory));
  memory.set_evaluate_mb(1);
  EXPECT_TRUE(IsAnySet(memory));
}

TEST(MemoryLimits, TheOthersGetTheDefault) {
  ActionMemory memory;
  memory.set_infer_mb(7);
  FillMemory(500, &memory);
  EXPECT_EQ(memory.train_mb(), 500);
  EXPECT_EQ(memory.infer_mb(), 7);
  EXPECT_EQ(memory.evaluate_mb(), 500);
}

}  // namespace
}  // namespace openset
