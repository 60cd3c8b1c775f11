#include "experiments/engine/cpus/cpu_pins.h"

#include <sched.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(CpuPins, EachActionHasItsOwnCpusAndReturnsThem) {
  const std::vector<int> all = Allowed();
  if (all.size() < 2) GTEST_SKIP() << "one CPU only";
  CpuPins pins(static_cast<int>(all.size()));
  ASSERT_TRUE(pins.pins());
  const std::vector<int> first = pins.Take(1), second = pins.Take(1);
  EXPECT_THAT(first, ElementsAre(all[0]));
  EXPECT_THAT(second, ElementsAre(all[1]));
  pins.Pin(getpid(), second);
  EXPECT_EQ(Allowed(), second);
  pins.Pin(getpid(), {});
  EXPECT_EQ(Allowed(), all);
  pins.GiveBack(first);
  EXPECT_EQ(pins.Take(100).size(), all.size() - 1);
  EXPECT_THAT(pins.Take(1), IsEmpty());
}

TEST(CpuPins, PinsNothingUnlessSlotsEqualCpus) {
  CpuPins pins(static_cast<int>(Allowed().size()) + 1);
  EXPECT_FALSE(pins.pins());
  EXPECT_THAT(pins.Take(1), IsEmpty());
}

}  // namespace
}  // namespace openset
