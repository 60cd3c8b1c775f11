#include "eval/scores/input/features.h"

#include <cmath>
#include <limits>
#include <vector>

#include "eval/testing/score_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(Features, AreCheckedForShapeAndValues) {
  std::vector<float> features = {1, 2, 3, 4, 5, 6};
  ScoreInput input = testing::FeatureRows(features, 3);
  EXPECT_TRUE(CheckFeatures(input).ok());
  EXPECT_TRUE(CheckFeaturesLikeFitted(input, 3, "knn").ok());
  EXPECT_EQ(CheckFeaturesLikeFitted(input, 0, "knn").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(CheckFeaturesLikeFitted(input, 2, "knn").message(), HasSubstr("knn was fitted to 2 features"));
  features[4] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(CheckFeatures(input).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("row 1, feature 1"));
  input.feature_dim = 2;
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("6 features for 2 samples of 2"));
  input.feature_dim = 0;
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("at least 1"));
  input.features = {};
  EXPECT_THAT(CheckFeatures(input).message(), HasSubstr("needs features"));
  input.num_samples = 0;
  EXPECT_THAT(CheckFeatureFitInput(input).message(), HasSubstr("no samples"));
}

TEST(CheckFinite, NamesTheFirstRowThatIsNot) {
  EXPECT_TRUE(CheckFinite({0, 1e308}, "are wrong").ok());
  const absl::Status status = CheckFinite({0, std::numeric_limits<double>::quiet_NaN(), HUGE_VAL}, "are wrong");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the features of row 1 are wrong");
}

}  // namespace
}  // namespace openset
