#include <cmath>
#include <limits>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput Features(const std::vector<float>& features) { return FeatureRows(features, 2); }

// Of length 1 the training samples are (1, 0), (0, 1), (0.6, 0.8), (0.8, 0.6).
const std::vector<float> kTrain = {2, 0, 0, 3, 3, 4, 8, 6};

// With a ridge that leaves the nearest neighbour alone: (-1, 0) is sqrt(2) from (0, 1), (5, 0) is a training sample.
TEST(Combood, IsTheNeighboursLogarithmForALargeRidge) {
  MadeScore score("combood { k: 1 ridge: 1e12 }");
  ASSERT_TRUE(score.Fit(Features(kTrain), {}).ok());
  const std::vector<double> scores = score.Compute(Features({-1, 0, 5, 0})).value();
  EXPECT_NEAR(scores[0], std::sqrt(2.0) * std::log(2.0), 1e-9);
  EXPECT_NEAR(scores[1], std::sqrt(2.0) * std::log(std::numeric_limits<double>::min()), 1e-9);
}

TEST(Combood, DoesNotDependOnTheFeaturesLength) {
  MadeScore score("combood { k: 2 ridge: 1 }");
  ASSERT_TRUE(score.Fit(Features(kTrain), {}).ok());
  const std::vector<double> scores = score.Compute(Features({1, 2, 8, 16})).value();
  EXPECT_NEAR(scores[0], scores[1], 1e-12);
}

// The second feature is 1e-30 for 19 samples and 0 for one; its likeliest lambda is 11.4. A feature of 1 lies 4.6e30
// deviations above: (4.6e30)^11.4 is no double.
TEST(Combood, RefusesFeaturesTooFarFromTheTrainingSamplesWithTheRow) {
  std::vector<float> train;
  for (int i = 0; i < 20; ++i) train.insert(train.end(), {1, i == 0 ? 0 : 1e-30F});
  MadeScore score("combood { k: 1 ridge: 1 }");
  ASSERT_TRUE(score.Fit(Features(train), {}).ok());
  EXPECT_TRUE(score.Compute(Features({1, 0, 1, 1e-30F})).ok());
  EXPECT_THAT(score.Compute(Features({1, 0, 0, 1})).status(),
              IsInvalidArgument("the features of row 1 are too far from those of the training samples"));
}

TEST(Combood, RefusesInvalidFitInput) {
  MadeScore score("combood { k: 5 ridge: 1 }");
  EXPECT_THAT(score.Fit(Features(kTrain), {}).message(), HasSubstr("k = 5 needs as many"));
  EXPECT_THAT(MadeScore("combood { k: 1 ridge: 1 }").Fit(Features({1, 0}), {}).message(),
              HasSubstr("two training samples"));
}

}  // namespace
}  // namespace openset
