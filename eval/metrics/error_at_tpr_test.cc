#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ErrorAt95Tpr, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("error_at_95tpr {}", ranked), golden.at("expected/error_at_95tpr")));
    EXPECT_TRUE(
        Agrees(Compute("error_at_95tpr { rule: RELEASED }", ranked), golden.at("expected/error_at_95tpr_released")));
  }
}

TEST(ErrorAt95Tpr, CountsBothSides) {
  Samples samples;
  samples.unknown_score = {0.1, 0.6, 0.5, 0.9};
  samples.label = {0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0};
  // Both unknown samples are needed for 95 %: the threshold is 0.5, the known 0.6 is rejected with them.
  EXPECT_TRUE(Agrees(Compute("error_at_95tpr {}", RankedInput(samples.Input())), 1.0 / 4));
  samples.unknown_score[0] = 0.55;
  EXPECT_TRUE(Agrees(Compute("error_at_95tpr {}", RankedInput(samples.Input())), 2.0 / 4));
  // Strictly above 0.5 the unknown one there is accepted.
  EXPECT_TRUE(Agrees(Compute("error_at_95tpr { rule: RELEASED }", RankedInput(samples.Input())), 3.0 / 4));
}

}  // namespace
}  // namespace openset
