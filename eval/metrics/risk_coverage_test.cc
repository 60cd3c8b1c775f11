#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// By score: right 0.1, wrong and right 0.2, unknown 0.3, right 0.4.
Samples FiveSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.2, 0.3, 0.4};
  samples.label = {0, 0, 1, -1, 1};
  samples.prediction = {0, 1, 1, 0, 1};
  return samples;
}

TEST(RiskAtCoverage, SharesTiesOut) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("risk_at_coverage { over: KNOWN coverage: 0.25 }", ranked).value, 0);
  EXPECT_EQ(Compute("risk_at_coverage { over: KNOWN coverage: 0.5 }", ranked).value, 0.5 / 2);  // half of the tie
  EXPECT_EQ(Compute("risk_at_coverage { over: KNOWN coverage: 0.51 }", ranked).value, 1.0 / 3);
  EXPECT_EQ(Compute("risk_at_coverage { over: KNOWN coverage: 1 }", ranked).value, 1.0 / 4);
  EXPECT_EQ(Compute("risk_at_coverage { over: POOL coverage: 0.8 }", ranked).value, 2.0 / 4);
  EXPECT_EQ(Compute("risk_at_coverage { over: POOL coverage: 1 }", ranked).value, 2.0 / 5);
}

TEST(CoverageAtRisk, IsThatOfAThreshold) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(Compute("coverage_at_risk { over: KNOWN risk: 0 }", ranked).value, 1.0 / 4);
  EXPECT_EQ(Compute("coverage_at_risk { over: KNOWN risk: 0.25 }", ranked).value, 1);
  EXPECT_EQ(Compute("coverage_at_risk { over: POOL risk: 0.34 }", ranked).value, 3.0 / 5);
  EXPECT_EQ(Compute("coverage_at_risk { over: POOL risk: 0.4 }", ranked).value, 1);
}

TEST(RiskCoverage, AgreesWithTorchUncertaintyWithoutTies) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    if (golden.numbers.count("risk_80_cov") == 0) continue;
    SCOPED_TRACE(golden.name);
    EXPECT_NEAR(*Compute("risk_at_coverage { over: KNOWN coverage: 0.8 }", ranked).value, *golden.at("risk_80_cov"),
                1e-12);
    EXPECT_NEAR(*Compute("coverage_at_risk { over: KNOWN risk: 0.05 }", ranked).value, *golden.at("cov_5_risk"), 1e-12);
  }
}

TEST(RiskCoverage, IsAbsentWithoutKnownSamples) {
  Samples samples = FiveSamples();
  samples.label.assign(5, -1);
  const RankedInput ranked(samples.Input());
  EXPECT_FALSE(Compute("risk_at_coverage { over: KNOWN coverage: 0.8 }", ranked).value.has_value());
  EXPECT_FALSE(Compute("coverage_at_risk { over: KNOWN risk: 0.1 }", ranked).value.has_value());
  EXPECT_EQ(Compute("coverage_at_risk { over: POOL risk: 0.1 }", ranked).value, 0);
}

}  // namespace
}  // namespace openset
