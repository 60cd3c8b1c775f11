#include <cmath>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// Class 0 at (0, 0) and (1, 0), class 1 at (4, 0).
const std::vector<float> kTrain = {0, 0, 1, 0, 4, 0};
const std::vector<float> kLogits = {1, 0, 1, 0, 0, 1};

ScoreInput Rows(const std::vector<float>& features, const std::vector<float>& logits) {
  return FeatureRows(features, 2, logits, 2);
}

TEST(Osnn, IsTheRatioOfDistances) {
  MadeScore score("osnn {}");
  ASSERT_THAT(score.Fit(Rows(kTrain, kLogits), {0, 0, 1}), IsOk());
  // At a sample; between (1, 0) and (4, 0), 1 and 2 away; in the middle; beyond (4, 0), whose nearest other is (1, 0).
  const std::vector<float> features = {1, 0, 2, 0, 2.5, 0, 6, 0, 1, 4};
  const std::vector<float> logits(10);
  EXPECT_THAT(score.Compute(Rows(features, logits)).value(),
              ElementsAre(0, DoubleNear(0.5, 1e-12), DoubleNear(1, 1e-12), DoubleNear(0.4, 1e-12),
                          DoubleNear(4 / std::sqrt(9 + 16.0), 1e-12)));
}

TEST(Osnn, ASampleOfTwoClassesIsUndecided) {
  const std::vector<float> train = {1, 1, 1, 1}, logits = {1, 0, 0, 1}, test = {1, 1}, test_logits = {1, 0};
  MadeScore score("osnn {}");
  ASSERT_THAT(score.Fit(Rows(train, logits), {0, 1}), IsOk());
  EXPECT_THAT(score.Compute(Rows(test, test_logits)).value(), ElementsAre(1));
}

TEST(Osnn, NeedsTwoClasses) {
  EXPECT_EQ(MadeScore("osnn {}").Fit(Rows(kTrain, kLogits), {0, 0, 0}).message(),
            "osnn compares classes: all its training samples are of one");
}

}  // namespace
}  // namespace openset
