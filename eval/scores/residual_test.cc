#include "core/testing/status_matchers.h"
#include "eval/testing/score_rows.h"

namespace openset {
namespace {

// A head that gives 0 at (0, 0, 2).
struct Example {
  std::vector<float> weight = {0, 0, 1};
  std::vector<float> bias = {-2};

  ScoreInput Input(const std::vector<float>& features) const {
    return WithHead(FeatureRows(features, 3, {}, 1), weight, bias);
  }
};

TEST(Residual, IsTheLengthOutsideTheMainDirections) {
  const Example example;
  // Around (0, 0, 2) the first feature varies most, the last one least.
  const std::vector<float> train = {9, 0, 2, -9, 0, 2, 0, 3, 2, 0, -3, 2, 0, 0, 3, 0, 0, 1};
  const std::vector<float> test = {100, 3, 6};
  MadeScore one("residual { principal_dim: 1 }");
  ASSERT_TRUE(one.Fit(example.Input(train), {}).ok());
  EXPECT_NEAR(one.Compute(example.Input(test)).value()[0], 5, 1e-12);  // |(3, 4)|
  MadeScore two("residual { principal_dim: 2 }");
  ASSERT_TRUE(two.Fit(example.Input(train), {}).ok());
  EXPECT_NEAR(two.Compute(example.Input(test)).value()[0], 4, 1e-12);
}

TEST(Residual, RefusesDimensionsThatLeaveNoDirection) {
  const Example example;
  const std::vector<float> train = {9, 0, 2, -9, 0, 2};
  EXPECT_THAT(MadeScore("residual { principal_dim: 3 }").Fit(example.Input(train), {}).message(),
              HasSubstr("must be below the 3 features"));
  EXPECT_THAT(MadeScore("residual { principal_dim: 1 }").Fit(example.Input(train), {}).message(),
              HasSubstr("span 1 of 3 directions; principal_dim (1) must be below 1"));
  EXPECT_THAT(MadeScore("residual { principal_dim: 2 }").Fit(example.Input(train), {}).message(),
              HasSubstr("span 1 of 3 directions; principal_dim (2) must be below 1"));
}

}  // namespace
}  // namespace openset
