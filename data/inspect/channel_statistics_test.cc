#include "data/inspect/channel_statistics.h"

#include <cmath>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(ChannelStatistics, EqualThoseOfAllPixelsForImagesOfOneSize) {
  ChannelStatistics statistics;
  EXPECT_THAT(statistics.Means(), IsEmpty());
  EXPECT_THAT(statistics.Deviations(), IsEmpty());
  statistics.Add({2, 1, 2, {0, 255, 51, 51}});
  statistics.Add({2, 1, 2, {0, 255, 51, 51}});
  statistics.Add({2, 1, 2, {255, 255, 51, 51}});
  EXPECT_EQ(statistics.images(), 3);
  // Four of six values are 1; all of the second channel are 0.2.
  EXPECT_THAT(statistics.Means(), ElementsAre(DoubleNear(4.0 / 6, 1e-12), DoubleNear(0.2, 1e-12)));
  EXPECT_THAT(statistics.Deviations(), ElementsAre(DoubleNear(std::sqrt(4.0 / 6 * 2 / 6), 1e-12), DoubleNear(0, 1e-7)));
}

// A white image of one pixel and a black one of three have the same weight.
TEST(ChannelStatistics, WeightEachImageEqually) {
  ChannelStatistics statistics;
  statistics.Add({1, 1, 1, {255}});
  statistics.Add({1, 3, 1, {0, 0, 0}});
  EXPECT_THAT(statistics.Means(), ElementsAre(0.5));
  EXPECT_THAT(statistics.Deviations(), ElementsAre(0.5));
}

}  // namespace
}  // namespace openset
