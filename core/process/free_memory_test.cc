#include "core/process/free_memory.h"

#include <sys/mman.h>

#include <cstring>

#include "core/process/machine.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(FreeMemory, IsLessThanTheMachinesMemory) {
  EXPECT_GT(FreeMemoryBytes(), 0);
  EXPECT_LE(FreeMemoryBytes(), MachineMemoryMb() << 20);
}

TEST(FreeMemory, UsedMemoryGrowsAndShrinks) {
  constexpr int64_t kBytes = 64 << 20, kSlack = 8 << 20;  // kernels count in batches
  const int64_t before = UsedMemoryBytes();
  EXPECT_GT(before, 0);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  EXPECT_NEAR(static_cast<double>(UsedMemoryBytes() - before), kBytes, kSlack);
  munmap(memory, kBytes);
  EXPECT_NEAR(static_cast<double>(UsedMemoryBytes() - before), 0, kSlack);
}

}  // namespace
}  // namespace openset
