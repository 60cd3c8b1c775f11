#include "eval/metrics/selective/risk_coverage.h"

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// By score: right 0.1, wrong and right 0.2, unknown 0.3, right 0.4.
testing::Samples FiveSamples() {
  testing::Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.2, 0.3, 0.4};
  samples.label = {0, 0, 1, -1, 1};
  samples.prediction = {0, 1, 1, 0, 1};
  return samples;
}

TEST(RiskAtCoverage, SharesTiesOut) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kKnown, 0.25).value, 0);
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kKnown, 0.5).value, 0.5 / 2);  // half of the tie
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kKnown, 0.51).value, 1.0 / 3);
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kKnown, 1).value, 1.0 / 4);
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kPool, 0.8).value, 2.0 / 4);
  EXPECT_EQ(RiskAtCoverage(ranked, RiskOver::kPool, 1).value, 2.0 / 5);
}

TEST(CoverageAtRisk, IsThatOfAThreshold) {
  const testing::Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(CoverageAtRisk(ranked, RiskOver::kKnown, 0).value, 1.0 / 4);
  EXPECT_EQ(CoverageAtRisk(ranked, RiskOver::kKnown, 0.25).value, 1);
  EXPECT_EQ(CoverageAtRisk(ranked, RiskOver::kPool, 0.34).value, 3.0 / 5);
  EXPECT_EQ(CoverageAtRisk(ranked, RiskOver::kPool, 0.4).value, 1);
}

TEST(RiskCoverage, AgreesWithTorchUncertaintyWithoutTies) {
  for (const testing::GoldenCase& golden : testing::ReadGolden("selective.json", "cases")) {
    const testing::Samples samples = testing::OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    if (golden.numbers.count("risk_80_cov") == 0) continue;
    SCOPED_TRACE(golden.name);
    EXPECT_NEAR(*RiskAtCoverage(ranked, RiskOver::kKnown, 0.8).value, *golden.at("risk_80_cov"), 1e-12);
    EXPECT_NEAR(*CoverageAtRisk(ranked, RiskOver::kKnown, 0.05).value, *golden.at("cov_5_risk"), 1e-12);
  }
}

TEST(RiskCoverage, IsAbsentWithoutKnownSamples) {
  testing::Samples samples = FiveSamples();
  samples.label.assign(5, -1);
  const RankedInput ranked(samples.Input());
  EXPECT_FALSE(RiskAtCoverage(ranked, RiskOver::kKnown, 0.8).value.has_value());
  EXPECT_FALSE(CoverageAtRisk(ranked, RiskOver::kKnown, 0.1).value.has_value());
  EXPECT_EQ(CoverageAtRisk(ranked, RiskOver::kPool, 0.1).value, 0);
}

}  // namespace
}  // namespace openset
