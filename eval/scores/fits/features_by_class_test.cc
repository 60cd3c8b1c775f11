#include "eval/scores/fits/features_by_class.h"

#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(FeaturesByClass, KeepsTheOrder) {
  const std::vector<float> features = {1, 2, 3, 4, 5, 6};
  const ScoreInput input = testing::FeatureRows(features, 2);
  const auto classes = FeaturesByClass(input, {7, 2, 7}).value();
  ASSERT_EQ(classes.size(), 2);
  EXPECT_EQ(classes[0].label, 2);
  EXPECT_EQ(classes[0].features, (std::vector<float>{3, 4}));
  EXPECT_EQ(classes[1].label, 7);
  EXPECT_EQ(classes[1].features, (std::vector<float>{1, 2, 5, 6}));
}

TEST(FeaturesByClass, RefusesMoreThanFitsInMemory) {
  const std::vector<float> features(3 * 20000);
  const ScoreInput input = testing::FeatureRows(features, 20000);
  EXPECT_TRUE(FeaturesByClass(input, {0, 0, 0}).ok());
  EXPECT_THAT(FeaturesByClass(input, {0, 1, 2}).status().message(),
              ::testing::HasSubstr("for each of 3 classes of 20000 features"));
}

}  // namespace
}  // namespace openset
