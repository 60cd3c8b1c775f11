#include "data/readers/in_parallel.h"

#include <atomic>
#include <vector>

#include "gmock/gmock.h"

namespace openset {
namespace {

TEST(InParallel, DoesEachPieceOnce) {
  for (const int64_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    InParallel(count, [&](int64_t i) { ++calls[i]; });
    for (const auto& number : calls) EXPECT_EQ(number, 1);
  }
}

}  // namespace
}  // namespace openset
