#include "data/readers/split_colours.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TEST(SplitColours, WritesEachByteOnlyToItsPosition) {
  for (int64_t count = 0; count < 70; ++count) {
    std::vector<uint8_t> pixels(3 * count);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i);
    // One more byte after each plane, which must not change.
    std::vector<uint8_t> red(count + 1, 255), green(count + 1, 255), blue(count + 1, 255);
    SplitColours(pixels.data(), count, red.data(), green.data(), blue.data());
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_THAT((std::vector<int>{red[i], green[i], blue[i]}), ElementsAre(3 * i, 3 * i + 1, 3 * i + 2));
    }
    ASSERT_THAT((std::vector<int>{red[count], green[count], blue[count]}), ElementsAre(255, 255, 255));
  }
}

}  // namespace
}  // namespace openset
