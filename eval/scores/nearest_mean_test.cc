#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

ScoreInput InputOf(const std::vector<float>& logits, const std::vector<float>& features) {
  return FeatureRows(features, 2, logits, 3);
}

TEST(NearestMean, IsTheSquaredDistanceToTheNearestMean) {
  // Means (1, 0) of class 0 and (5, 5) of class 2; class 1 has no sample.
  const std::vector<float> logits(9, 0), train = {0, 0, 2, 0, 5, 5}, test = {1, 0, 1, 2, 5, 4};
  MadeScore score("nearest_mean {}");
  ASSERT_THAT(score.Fit(InputOf(logits, train), {0, 0, 2}), IsOk());
  EXPECT_THAT(score.Compute(InputOf(logits, test)).value(), ElementsAre(0, 4, 1));
}

}  // namespace
}  // namespace openset
