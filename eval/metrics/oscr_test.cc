#include <cstdint>
#include <vector>

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Oscr, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("oscr {}", ranked), golden.at("expected/oscr_trapezoid")));
    EXPECT_TRUE(Agrees(Compute("openauc_strict {}", ranked), golden.at("expected/oscr_lower")));
    EXPECT_TRUE(Agrees(Compute("oscr { form: EQ9_MIXED }", ranked), golden.at("expected/oscr_eq9_mixed")));
    EXPECT_TRUE(Agrees(Compute("oscr { form: LEGACY }", ranked), golden.at("expected/oscr_legacy")));
  }
}

TEST(Oscr, FormsDifferWhereAnUnknownIsFollowedByACorrectSample) {
  // One unknown above one correct known sample, as it should be: the legacy area loses half of the only pair.
  Samples samples;
  samples.unknown_score = {0.2, 0.7};
  samples.label = {0, -1};
  samples.prediction = {0, 0};
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Compute("oscr {}", ranked), 1.0));
  EXPECT_TRUE(Agrees(Compute("oscr { form: LEGACY }", ranked), 0.5));
  EXPECT_TRUE(Agrees(Compute("oscr { form: EQ9_MIXED }", ranked), 0.5));
}

// An unknown sample of weight w above a correct one: the legacy area loses half of one of the w pairs.
TEST(Oscr, CountsLargeWeights) {
  Samples samples;
  samples.unknown_score = {0.2, 0.7};
  samples.label = {0, -1};
  samples.prediction = {0, 0};
  RankedInput ranked(samples.Input());
  const uint32_t weight = uint32_t{1} << 31;
  ranked.Reweight(std::vector<uint32_t>{1, weight});
  EXPECT_TRUE(Agrees(Compute("oscr { form: LEGACY }", ranked), 1 - 0.5 / weight));
}

}  // namespace
}  // namespace openset
