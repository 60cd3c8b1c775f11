#include "eval/metrics/ranked_input.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(StableOrder, KeepsTheOrderOfEqualKeys) {
  EXPECT_THAT(StableOrder({}), ElementsAre());
  EXPECT_THAT(StableOrder({7.0}), ElementsAre(0));
  EXPECT_THAT(StableOrder({2.0, 1.0, 2.0, 1.0, 0.0}), ElementsAre(4, 1, 3, 0, 2));
}

TEST(StableOrder, TreatsZerosAsEqualAndOrdersInfinitiesAndSubnormals) {
  EXPECT_THAT(StableOrder({0.0, -0.0, 0.0}), ElementsAre(0, 1, 2));
  EXPECT_THAT(StableOrder({kInfinity, 5e-324, 0.0, -5e-324, -kInfinity, 1e308}), ElementsAre(4, 3, 2, 1, 5, 0));
}

TEST(StableOrder, IsThatOfAStableComparisonSort) {
  for (int round = 0; round < 20; ++round) {
    RandomStream random(1, absl::StrCat("stable order/", round));
    std::vector<double> key(1 + random.Below(5000));
    for (double& k : key) {
      k = round % 4 == 0   ? static_cast<double>(random.Below(10)) - 5
          : round % 4 == 1 ? static_cast<float>(random.Normal())
                           : random.Normal() * (round % 4 == 2 ? 1 : 1e300);
    }
    std::vector<uint32_t> expected(key.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&key](uint32_t a, uint32_t b) { return key[a] < key[b]; });
    EXPECT_EQ(StableOrder(key), expected) << "round " << round;
  }
}

// Enough keys for several threads; an odd number, so that their parts differ in length.
TEST(StableOrder, IsTheSameInAnyNumberOfThreads) {
  for (const int64_t distinct : {3, 1000, 1 << 30}) {
    RandomStream random(1, absl::StrCat("many keys/", distinct));
    std::vector<double> key(200003);
    for (double& k : key) k = static_cast<double>(random.Below(distinct)) - 1;
    std::vector<uint32_t> expected(key.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&key](uint32_t a, uint32_t b) { return key[a] < key[b]; });
    for (const int threads : {1, std::numeric_limits<int>::max()}) {
      LimitThreads(threads);
      EXPECT_EQ(StableOrder(key), expected) << distinct << " different keys";
    }
  }
}

// Keys that are equal in the first 33 differing bits: 1 or -1 plus multiples of 2^-40, in runs of all lengths.
TEST(StableOrder, TellsKeysApartByTheirLastBits) {
  for (const int64_t distinct : {2, 10, 1000}) {
    RandomStream random(1, absl::StrCat("last bits/", distinct));
    std::vector<double> key(3000);
    for (double& k : key) {
      k = (random.Below(2) == 0 ? -1 : 1) + static_cast<double>(random.Below(distinct)) * 9.094947017729282e-13;
    }
    std::vector<uint32_t> expected(key.size());
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&key](uint32_t a, uint32_t b) { return key[a] < key[b]; });
    EXPECT_EQ(StableOrder(key), expected) << distinct << " keys a sign";
  }
}

TEST(StableOrder, OfEqualKeysIsTheirs) {
  EXPECT_THAT(StableOrder({0.25, 0.25, 0.25}), ElementsAre(0, 1, 2));
  EXPECT_THAT(StableOrder({-0.0, 0.0}), ElementsAre(0, 1));
}

TEST(Ranking, GroupsEqualScoresInTheOrderOfTheInput) {
  const std::vector<double> score = {0.3, -1, 0.3, 2, -1};
  const Ranking ranking(score);
  EXPECT_EQ(ranking.num_samples(), 5);
  ASSERT_EQ(ranking.num_blocks(), 3);
  EXPECT_THAT(ranking.order(), ElementsAre(1, 4, 0, 2, 3));
  EXPECT_THAT(ranking.Block(0), ElementsAre(1, 4));
  EXPECT_THAT(ranking.Block(1), ElementsAre(0, 2));
  EXPECT_THAT(ranking.Block(2), ElementsAre(3));
  EXPECT_EQ(ranking.Score(1), 0.3);
}

TEST(Ranking, ComparesExactly) {
  const std::vector<double> score = {1e12 + 0.0001220703125, 1e12};  // two neighbouring doubles
  EXPECT_EQ(Ranking(score).num_blocks(), 2);
}

Samples FiveSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.5, 0.1, 0.5, 0.5, 0.9};
  samples.label = {0, 1, -1, 1, -1};
  samples.prediction = {0, 1, 1, 0, 0};
  return samples;
}

TEST(RankedInput, CountsEachTieBlock) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{1, 0, 0}, Tally{1, 1, 1}, Tally{0, 0, 1}));
  EXPECT_EQ(ranked.total(), (Tally{2, 1, 2}));
  EXPECT_EQ(ranked.total().known(), 3);
  EXPECT_EQ(ranked.total().all(), 5);
  EXPECT_EQ(ranked.weight(3), 1);
}

TEST(RankedInput, WithoutPredictionsKnownSamplesAreNotJudged) {
  Samples samples = FiveSamples();
  samples.prediction.clear();
  RankedInput ranked(samples.Input());
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{0, 0, 0, 1}, Tally{0, 0, 1, 2}, Tally{0, 0, 1, 0}));
  EXPECT_EQ(ranked.total().known(), 3);
  EXPECT_EQ(ranked.total().all(), 5);
  ranked.Reweight(std::vector<uint32_t>{2, 0, 3, 1, 1});
  EXPECT_THAT(ranked.blocks(), ElementsAre(Tally{}, Tally{0, 0, 3, 3}, Tally{0, 0, 1, 0}));
}

TEST(RankedInput, ReweightsCopiesOneByOne) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  RankedInput copy = ranked;
  copy.Reweight(std::vector<uint32_t>{2, 0, 3, 1, 1});
  EXPECT_THAT(copy.blocks(), ElementsAre(Tally{0, 0, 0}, Tally{2, 1, 3}, Tally{0, 0, 1}));
  EXPECT_EQ(copy.weight(2), 3);
  EXPECT_EQ(ranked.total(), (Tally{2, 1, 2}));
}

}  // namespace
}  // namespace openset
