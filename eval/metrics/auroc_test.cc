#include "eval/metrics/auroc.h"

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Auroc, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Auroc(ranked), golden.at("expected/auroc")));
    EXPECT_TRUE(Agrees(Auroc(ranked, TiedPairRule::NOTHING), golden.at("expected/auroc_strict")));
  }
}

TEST(Auroc, AgreesWithGoldenValuesOfDetection) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "detection")) {
    const Samples samples = DetectionSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Auroc(ranked), golden.at("expected/auroc")));
    EXPECT_TRUE(Agrees(Auroc(ranked, TiedPairRule::NOTHING), golden.at("expected/auroc_ties_lose")));
  }
}

TEST(Auroc, CountsPairs) {
  Samples samples;
  samples.unknown_score = {0.1, 0.4, 0.4, 0.9, 0.2};
  samples.label = {0, 0, -1, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0};
  // Pairs (unknown, known): 0.4 above 0.1, 0.4 ties 0.4; 0.9 above both; 0.2 above 0.1, below 0.4.
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Auroc(ranked), (1 + 0.5 + 2 + 1) / 6));
  EXPECT_TRUE(Agrees(Auroc(ranked, TiedPairRule::NOTHING), (1 + 0 + 2 + 1) / 6.0));
}

TEST(Auroc, NamesTheMissingSide) {
  Samples samples;
  samples.unknown_score = {1, 2};
  samples.prediction = {0, 0};
  samples.label = {0, 0};
  EXPECT_EQ(Auroc(RankedInput(samples.Input())).absent_reason, "no unknown samples");
  samples.label = {-1, -1};
  EXPECT_EQ(Auroc(RankedInput(samples.Input())).absent_reason, "no known samples");
}

}  // namespace
}  // namespace openset
