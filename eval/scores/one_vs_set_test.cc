#include <cstdint>
#include <vector>

#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// On a line: class 0 at 0, 1, 2 and class 1 at 6, 8. The planes between them are at 4: f_0(x) = (4 - x) / 2, of which
// the samples 2 and 6 have 1 and -1, and f_1 = -f_0.
const std::vector<float> kTrain = {0, 1, 2, 6, 8};
const std::vector<float> kLogits = {1, 0, 1, 0, 1, 0, 0, 1, 0, 1};
const std::vector<int32_t> kLabels = {0, 0, 0, 1, 1};

ScoreInput Rows(const std::vector<float>& features, const std::vector<float>& logits) {
  return FeatureRows(features, 1, logits, 2);
}

std::vector<double> Scores(const char* spec, const std::vector<float>& features) {
  MadeScore score(spec);
  EXPECT_THAT(score.Fit(Rows(kTrain, kLogits), kLabels), IsOk());
  return score.Compute(Rows(features, std::vector<float>(2 * features.size()))).value();
}

// Both slabs hold exactly their class, which has the least risk, 1 + 1 + 2: x in [0, 2] and [6, 8].
TEST(OneVsSet, IsTheShareOfTheSlabByWhichASampleLiesInside) {
  EXPECT_THAT(Scores("one_vs_set {}", {0, 1, 1.5, 2, 3, 4, 5, 7, 9}),
              ElementsAre(DoubleNear(0, 1e-5), DoubleNear(-0.5, 1e-5), DoubleNear(-0.25, 1e-5), DoubleNear(0, 1e-5),
                          DoubleNear(0.5, 1e-5), DoubleNear(1, 1e-5), DoubleNear(0.5, 1e-5), DoubleNear(-0.5, 1e-5),
                          DoubleNear(0.5, 1e-5)));
}

// The near plane moves by a quarter of the distance to the next sample, to 3 and 5, and the far one by half of the
// class's width, to -1 and 9: both slabs are 4 wide.
TEST(OneVsSet, PressuresMoveThePlanes) {
  EXPECT_THAT(Scores("one_vs_set { near_pressure: 0.5 far_pressure: 1 }", {-1, 1, 3, 4}),
              ElementsAre(DoubleNear(0, 1e-5), DoubleNear(-0.5, 1e-5), DoubleNear(0, 1e-5), DoubleNear(0.25, 1e-5)));
}

// c limits the factors of the samples at the margin, 1/4 each for kTrain. With 1/8 of that the slopes are an eighth of
// it, which the share of a slab doesn't depend on.
TEST(OneVsSet, TheShareDoesNotDependOnTheSlope) {
  EXPECT_THAT(Scores("one_vs_set { c: 0.015625 }", {0, 1, 2, 3}),
              ElementsAre(DoubleNear(0, 1e-4), DoubleNear(-0.5, 1e-4), DoubleNear(0, 1e-4), DoubleNear(0.5, 1e-4)));
}

// Class 1 has samples at 2.5, 10, 11 and 12. The slab of class 0 is [0, 4], of risk 1 + 1 + 11 / 5, for which one move
// leads from 10 to 4. The slab of class 1 stays at [4, 12], of risk 1 + 9.5 / 8 + 8 / 3 = 4.85: [3, 12] and [10, 12]
// have more, although [2.5, 12] has less, 1 + 1 + 10 / 4.
TEST(OneVsSet, MovesAPlaneAsLongAsTheRiskFalls) {
  MadeScore score("one_vs_set {}");
  const std::vector<float> train = {0, 1, 2, 3, 4, 2.5, 10, 11, 12};
  const std::vector<float> logits(18), test = {2, 2.5, 4.5, 8, -3, 13}, test_logits(12);
  ASSERT_THAT(score.Fit(Rows(train, logits), {0, 0, 0, 0, 0, 1, 1, 1, 1}), IsOk());
  EXPECT_THAT(score.Compute(Rows(test, test_logits)).value(),
              ElementsAre(DoubleNear(-0.5, 1e-5), DoubleNear(-0.375, 1e-5), DoubleNear(-0.0625, 1e-5),
                          DoubleNear(-0.5, 1e-5), DoubleNear(0.75, 1e-5), DoubleNear(0.125, 1e-5)));
}

TEST(OneVsSet, AClassWithoutSamplesHasNoSlab) {
  MadeScore score("one_vs_set {}");
  const std::vector<float> logits(15);
  ASSERT_THAT(score.Fit(FeatureRows(kTrain, 1, logits, 3), {0, 0, 0, 2, 2}), IsOk());
  const std::vector<float> features = {1, 7}, test_logits(6);
  EXPECT_THAT(score.Compute(FeatureRows(features, 1, test_logits, 3)).value(), Each(DoubleNear(-0.5, 1e-5)));
}

TEST(OneVsSet, SaysWhyItCannotBeFitted) {
  EXPECT_EQ(MadeScore("one_vs_set {}").Fit(Rows(kTrain, kLogits), {0, 0, 0, 0, 0}).message(),
            "one_vs_set separates classes: all its training samples are of one");
  EXPECT_EQ(MadeScore("one_vs_set {}").Fit(Rows({1, 1, 1, 1, 1}, kLogits), kLabels).message(),
            "one_vs_set: the features of all training samples are equal");
  // Two samples at nearly the same place, of two classes, whose separation takes factors of 1e12.
  const std::vector<float> train = {0, 1e-6F, 1e3F, 2e3F}, logits(8);
  EXPECT_THAT(MadeScore("one_vs_set { c: 1e15 }").Fit(Rows(train, logits), {0, 1, 0, 1}).message(),
              HasSubstr("has not converged after 20000 passes over its training samples; set a smaller c"));
}

}  // namespace
}  // namespace openset
