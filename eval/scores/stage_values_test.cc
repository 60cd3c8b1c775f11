#include "eval/scores/stage_values.h"

#include <limits>
#include <string>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Two samples, stages of 1 and 2 values.
class StageValuesTest : public ::testing::Test {
 protected:
  ScoreInput Input() const {
    ScoreInput input;
    input.num_samples = 2;
    input.stage_values = values_;
    input.stage_widths = widths_;
    return input;
  }
  std::string Problem() const { return std::string(CheckStageValues(Input()).message()); }

  std::vector<float> values_ = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> widths_ = {1, 2};
};

TEST_F(StageValuesTest, TakesTheValuesOfAStage) {
  EXPECT_TRUE(CheckStageValues(Input()).ok());
  EXPECT_THAT(ValuesOfStage(Input(), 0), ElementsAre(1, 4));
  EXPECT_THAT(ValuesOfStage(Input(), 1), ElementsAre(2, 3, 5, 6));
}

TEST_F(StageValuesTest, RefusesWidthsThatDoNotFit) {
  for (const std::vector<int64_t>& widths :
       {std::vector<int64_t>{1, 1}, {1, 3}, {3, 3}, {std::numeric_limits<int64_t>::max(), 4}}) {
    widths_ = widths;
    EXPECT_THAT(Problem(), HasSubstr("there are 6 stage_values for 2 samples with stage_widths"));
  }
  widths_ = {4, -1};
  EXPECT_THAT(Problem(), HasSubstr("there are 6"));
  widths_ = {3, 0};
  EXPECT_EQ(Problem(), "stage_widths must be at least 1 (one is 0)");
  widths_ = {};
  EXPECT_THAT(Problem(), HasSubstr("which the outputs lack"));
}

TEST_F(StageValuesTest, RefusesNonFiniteValues) {
  values_[5] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Problem(), "stage_values are not finite in row 1, value 2");
}

TEST_F(StageValuesTest, RefusesOtherStagesThanFitted) {
  EXPECT_TRUE(CheckStageValuesLikeFitted(Input(), {1, 2}, "it").ok());
  EXPECT_EQ(CheckStageValuesLikeFitted(Input(), {2, 1}, "it").message(),
            "it was fitted to stages of 2, 1 values; these outputs have 1, 2");
  EXPECT_EQ(CheckStageValuesLikeFitted(Input(), {}, "it").code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace openset
