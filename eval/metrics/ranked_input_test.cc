#include "eval/metrics/ranked_input.h"

#include <vector>

#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

testing::Samples FiveSamples() {
  testing::Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.5, 0.1, 0.5, 0.5, 0.9};
  samples.label = {0, 1, -1, 1, -1};
  samples.prediction = {0, 1, 1, 0, 0};
  return samples;
}

TEST(RankedInput, CountsEachTieBlock) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{1, 0, 0}, Tally{1, 1, 1}, Tally{0, 0, 1}));
  EXPECT_EQ(ranked.total(), (Tally{2, 1, 2}));
  EXPECT_EQ(ranked.total().known(), 3);
  EXPECT_EQ(ranked.total().all(), 5);
  EXPECT_EQ(ranked.weight(3), 1);
}

TEST(RankedInput, WithoutPredictionsKnownSamplesAreNotJudged) {
  testing::Samples samples = FiveSamples();
  samples.prediction.clear();
  RankedInput ranked(samples.Input());
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{0, 0, 0, 1}, Tally{0, 0, 1, 2}, Tally{0, 0, 1, 0}));
  EXPECT_EQ(ranked.total().known(), 3);
  EXPECT_EQ(ranked.total().all(), 5);
  ranked.Reweight(std::vector<uint32_t>{2, 0, 3, 1, 1});
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{}, Tally{0, 0, 3, 3}, Tally{0, 0, 1, 0}));
}

TEST(RankedInput, ReweightsCopiesOneByOne) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  RankedInput copy = ranked;
  copy.Reweight(std::vector<uint32_t>{2, 0, 3, 1, 1});
  EXPECT_THAT(copy.blocks(), ElementsAre(Tally{0, 0, 0}, Tally{2, 1, 3}, Tally{0, 0, 1}));
  EXPECT_EQ(copy.weight(2), 3);
  EXPECT_EQ(ranked.total(), (Tally{2, 1, 2}));
}

}  // namespace
}  // namespace openset
