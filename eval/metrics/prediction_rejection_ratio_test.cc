#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(PredictionRejectionRatio, AgreesWithLmPolygraph) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    if (golden.numbers.count("expected/prr_1") == 0) continue;
    const Samples samples = DeploymentSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    EXPECT_TRUE(Agrees(Compute("prediction_rejection_ratio {}", ranked), golden.at("expected/prr_1")));
    EXPECT_TRUE(
        Agrees(Compute("prediction_rejection_ratio { max_rejection: 0.5 }", ranked), golden.at("expected/prr_0.5")));
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

// Four answers of which the least and the most unknown are wrong; the best order would have both last.
Samples FourAnswers() {
  Samples samples;
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4};
  samples.label = {0, 0, 0, 0};
  samples.loss = {1, 0, 0, 1};
  return samples;
}

TEST(PredictionRejectionRatio, IsTheShareOfTheWayToTheBestOrder) {
  const Samples samples = FourAnswers();
  const double risk = (1 + 1.0 / 2 + 1.0 / 3 + 2.0 / 4) / 4, best = (0 + 0 + 1.0 / 3 + 2.0 / 4) / 4;
  EXPECT_TRUE(
      Agrees(Compute("prediction_rejection_ratio {}", RankedInput(samples.Input())), (0.5 - risk) / (0.5 - best)));
  // floor(0.5 * 4) = 2 samples are rejected at most: the coverages 3/4 and 1.
  EXPECT_TRUE(Agrees(Compute("prediction_rejection_ratio { max_rejection: 0.5 }", RankedInput(samples.Input())),
                     (0.5 - (1.0 / 3 + 2.0 / 4) / 2) / (0.5 - (1.0 / 3 + 2.0 / 4) / 2)));
}

TEST(PredictionRejectionRatio, IsZeroForEqualScores) {
  Samples samples = FourAnswers();
  samples.unknown_score = {3, 3, 3, 3};
  EXPECT_TRUE(Agrees(Compute("prediction_rejection_ratio {}", RankedInput(samples.Input())), 0.0));
  EXPECT_TRUE(Agrees(Compute("prediction_rejection_ratio { max_rejection: 0.5 }", RankedInput(samples.Input())), 0.0));
}

TEST(PredictionRejectionRatio, IsAbsentIfAllAnswersAreAlike) {
  Samples samples = FourAnswers();
  samples.loss = {0.5, 0.5, 0.5, 0.5};
  EXPECT_TRUE(Agrees(Compute("prediction_rejection_ratio {}", RankedInput(samples.Input())), std::nullopt));
  samples.loss = {1, 0, 0, 1};
  EXPECT_TRUE(
      Agrees(Compute("prediction_rejection_ratio { max_rejection: 0.2 }", RankedInput(samples.Input())), std::nullopt));
}

}  // namespace
}  // namespace openset
