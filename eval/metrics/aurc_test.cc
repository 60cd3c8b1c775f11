#include "eval/metrics/aurc.h"

#include <cmath>

#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Aurc, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "selective")) {
    const Samples samples = SelectiveSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    // Over the pool it is the same: there are no unknown samples.
    for (const RiskSamples::Value over : {RiskSamples::KNOWN, RiskSamples::POOL}) {
      const auto aurc = [&](AurcSpec::Form form) { return Aurc(ranked, over, form); };
      EXPECT_TRUE(Agrees(aurc(AurcSpec::EXPECTED), golden.at("expected/aurc_expected_over_ties")));
      EXPECT_TRUE(Agrees(aurc(AurcSpec::INPUT_ORDER), golden.at("expected/aurc_stable_input_order")));
      EXPECT_TRUE(Agrees(aurc(AurcSpec::CORRECT_FIRST), golden.at("expected/aurc_ties_correct_first")));
      EXPECT_TRUE(Agrees(aurc(AurcSpec::ERROR_FIRST), golden.at("expected/aurc_ties_error_first")));
      EXPECT_TRUE(Agrees(aurc(AurcSpec::TRAPEZOID_DISTINCT), golden.at("expected/aurc_trapz_distinct_fdshifts")));
      EXPECT_TRUE(Agrees(aurc(AurcSpec::TRAPEZOID_NORMALISED), golden.at("expected/aurc_trapz_normalised_tu")));
      EXPECT_TRUE(Agrees(Compute("eaurc {}", ranked), golden.at("expected/eaurc_asymptotic")));
      EXPECT_TRUE(Agrees(Compute("eaurc { oracle: EXACT }", ranked), golden.at("expected/eaurc_exact_oracle")));
      EXPECT_TRUE(Agrees(Compute(over == RiskSamples::POOL ? "pooled_augrc {}" : "augrc {}", ranked),
                         golden.at("expected/augrc_trapz_distinct")));
    }
    EXPECT_TRUE(Agrees(Compute("auroc_misclassification {}", ranked), golden.at("expected/auroc_error_detection")));
  }
}

// By unknown score: correct, unknown (group 1) and wrong tied, correct, unknown (group 0).
Samples FiveSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, -1, 1, 1, -1};
  samples.prediction = {0, 0, 0, 1, 1};
  samples.unknown_score = {0.1, 0.2, 0.2, 0.3, 0.4};
  samples.group = {0, 1, 0, 0, 0};
  return samples;
}

TEST(Aurc, PoolCountsUnknownSamplesAsErrors) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  EXPECT_TRUE(Agrees(Aurc(ranked, RiskSamples::KNOWN), (0 + 1.0 / 2 + 1.0 / 3) / 3));
  EXPECT_TRUE(Agrees(Aurc(ranked, RiskSamples::POOL), (0 + 1.0 / 2 + 2.0 / 3 + 2.0 / 4 + 3.0 / 5) / 5));
}

TEST(Aurc, PartsAddUpToThePool) {
  const Samples samples = FiveSamples();
  const RankedInput ranked(samples.Input());
  const std::vector<AurcPart> parts = PooledAurcParts(ranked);
  ASSERT_EQ(parts.size(), 3);
  EXPECT_EQ(parts[0].group, kUnknownLabel);
  EXPECT_EQ(parts[0].samples, 3);
  EXPECT_EQ(parts[0].errors, 1);
  // The wrong and the tied unknown sample each add 1/2 of 1/2 and of 2/3 within their block, then 1/4 and 1/5.
  const double tied = (0.5 / 2 + 1.0 / 3 + 1.0 / 4 + 1.0 / 5) / 5;
  EXPECT_NEAR(parts[0].aurc, tied, 1e-15);
  EXPECT_EQ(parts[2].group, 1);
  EXPECT_NEAR(parts[2].aurc, tied, 1e-15);
  EXPECT_NEAR(parts[1].aurc, 1.0 / 5 / 5, 1e-15);
  EXPECT_NEAR(parts[0].aurc + parts[1].aurc + parts[2].aurc, *Aurc(ranked, RiskSamples::POOL).value, 1e-15);
}

TEST(Aurc, ConstantScoresGiveTheErrorRate) {
  Samples samples = FiveSamples();
  samples.unknown_score.assign(5, 0.7);
  EXPECT_TRUE(Agrees(Aurc(RankedInput(samples.Input()), RiskSamples::KNOWN), 1.0 / 3));
  EXPECT_TRUE(Agrees(Compute("eaurc {}", RankedInput(samples.Input())), -(2.0 / 3) * std::log(2.0 / 3)));
}

TEST(Aurc, AgreesWithFdShiftsAndTorchUncertainty) {
  for (const GoldenCase& golden : ReadGolden("selective.json", "cases")) {
    SCOPED_TRACE(golden.name);
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    const RiskSamples::Value known = RiskSamples::KNOWN;
    EXPECT_TRUE(Agrees(Aurc(ranked, known, AurcSpec::TRAPEZOID_DISTINCT), golden.at("aurc")));
    EXPECT_TRUE(Agrees(Compute("eaurc { form: TRAPEZOID_DISTINCT }", ranked), golden.at("eaurc")));
    EXPECT_TRUE(Agrees(Compute("augrc {}", ranked), golden.at("augrc")));
    EXPECT_TRUE(Agrees(Compute("eaugrc {}", ranked), golden.at("eaugrc")));
    EXPECT_TRUE(Agrees(Compute("pooled_augrc {}", ranked), golden.at("pooled_augrc")));
    if (golden.numbers.count("tu_aurc") == 0) continue;  // ties
    EXPECT_TRUE(Agrees(Aurc(ranked, known, AurcSpec::TRAPEZOID_NORMALISED), golden.at("tu_aurc")));
    EXPECT_TRUE(Agrees(Compute("augrc { form: TRAPEZOID_NORMALISED }", ranked), golden.at("tu_augrc")));
  }
}

}  // namespace
}  // namespace openset
