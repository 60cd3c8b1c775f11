#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(Aupr, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "detection")) {
    const Samples samples = DetectionSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("aupr_known {}", ranked), golden.at("expected/aupr_in_step")));
    EXPECT_TRUE(Agrees(Compute("aupr_unknown {}", ranked), golden.at("expected/aupr_out_step")));
    EXPECT_TRUE(Agrees(Compute("aupr_known { form: TRAPEZOID }", ranked), golden.at("expected/aupr_in_trapz")));
    EXPECT_TRUE(Agrees(Compute("aupr_unknown { form: TRAPEZOID }", ranked), golden.at("expected/aupr_out_trapz")));
  }
}

// By descending score: unknown, known, unknown, known.
Samples FourSamples() {
  Samples samples;
  samples.unknown_score = {0.9, 0.8, 0.7, 0.6};
  samples.label = {-1, 0, -1, 0};
  samples.prediction = {0, 0, 0, 0};
  return samples;
}

TEST(Aupr, AddsPrecisionOverRecall) {
  const Samples samples = FourSamples();
  const RankedInput ranked(samples.Input());
  // Precisions where recall rises: 1/1 and 2/3 for the unknown; 1/2 and 2/4 for the known, from the lowest score on.
  EXPECT_TRUE(Agrees(Compute("aupr_unknown {}", ranked), 0.5 * 1 + 0.5 * 2 / 3));
  EXPECT_TRUE(Agrees(Compute("aupr_known {}", ranked), 0.5 * 1 + 0.5 * 2 / 3));
  // Points (0, 1), (1/2, 1), (1/2, 1/2), (1, 2/3).
  EXPECT_TRUE(Agrees(Compute("aupr_unknown { form: TRAPEZOID }", ranked), 0.5 * 1 + 0.5 * (1.0 / 2 + 2.0 / 3) / 2));
}

TEST(Aupr, BalancedFormIgnoresTheRatioOfTheSides) {
  Samples samples = FourSamples();
  RankedInput ranked(samples.Input());
  // The first unknown at its own precision 1, the second at the one before it, 1/2.
  EXPECT_TRUE(Agrees(Compute("aupr_unknown { form: BALANCED_STEP }", ranked), 0.5 * 1 + 0.5 * 0.5));
  ranked.Reweight(std::vector<uint32_t>{1, 7, 1, 7});
  EXPECT_TRUE(Agrees(Compute("aupr_unknown { form: BALANCED_STEP }", ranked), 0.5 * 1 + 0.5 * 0.5));
}

}  // namespace
}  // namespace openset
