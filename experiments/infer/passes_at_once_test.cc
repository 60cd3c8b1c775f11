#include "experiments/infer/passes_at_once.h"

#include <limits>
#include <vector>

#include "core/machine/machine.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

PassesAtOnce Measured(int64_t free, int64_t used, int64_t peak) {
  PassesAtOnce passes({[=] { return free; }, [=] { return used; }, [=] { return peak; }});
  EXPECT_EQ(passes.Count(8), 1);
  passes.Begin();
  passes.End();
  return passes;
}

TEST(PassesAtOnce, TakeHalfOfTheFreeMemory) {
  // A pass takes 300; two more fit into 600.
  EXPECT_EQ(Measured(/*free=*/1200, /*used=*/100, /*peak=*/400).Count(8), 3);
  EXPECT_EQ(Measured(1199, 100, 400).Count(8), 2);
  EXPECT_EQ(Measured(1200, 100, 400).Count(2), 2);
  EXPECT_EQ(Measured(599, 100, 400).Count(8), 1);
  EXPECT_EQ(Measured(0, 100, 400).Count(8), 1);
}

TEST(PassesAtOnce, UseAllCpusWhereMemoryIsUnknown) {
  EXPECT_EQ(Measured(int64_t{1} << 62, 100, 100).Count(64), 64);
  EXPECT_EQ(Measured(int64_t{1} << 62, 100, 50).Count(0), 1);
}

TEST(PassesAtOnce, OnlyTheFirstPassIsMeasured) {
  int64_t peak = 200;
  PassesAtOnce passes({[] { return 1000; }, [] { return 100; }, [&] { return peak; }});
  for (; peak < 1000; peak += 400) {
    passes.Begin();
    passes.End();
    EXPECT_EQ(passes.Count(8), 6);  // 100 each
  }
}

TEST(PassesAtOnce, MeasuresThisProcess) {
  PassesAtOnce passes;
  passes.Begin();
  constexpr int64_t kBytes = 64 << 20;
  const std::vector<char> memory(kBytes, 1);
  passes.End();
  EXPECT_EQ(memory.back(), 1);
  // Kernels count memory in batches.
  EXPECT_LE(passes.Count(std::numeric_limits<int>::max()), 1 + (MachineMemoryMb() << 20) / 2 / (kBytes * 9 / 10));
}

}  // namespace
}  // namespace openset
