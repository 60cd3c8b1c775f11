#include "data/look_up_colours.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(LookUpColours, TakesEachByteFromItsChannelsRow) {
  std::vector<float> table(3 * 256);
  std::iota(table.begin(), table.end(), 1.F);
  for (int64_t pixels = 0; pixels < 300; ++pixels) {
    std::vector<uint8_t> planes(3 * pixels);
    for (size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<uint8_t>(7 * i + pixels);
    std::vector<float> values(3 * pixels + 1, -1);  // the last one must not change
    LookUpColours(planes.data(), pixels, table.data(), values.data());
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < 3; ++c) {
        ASSERT_EQ(values[3 * p + c], 1 + 256 * c + planes[c * pixels + p])
            << p << " of " << pixels << ", channel " << c;
      }
    }
    ASSERT_EQ(values.back(), -1);
  }
}

}  // namespace
}  // namespace openset
