#include <cmath>
#include <vector>

#include "eval/testing/score_rows.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ExtraOutput, IsTheSoftmaxOfTheLastOutput) {
  const std::vector<float> logits = {0, 0, 0, std::log(2.0f), 0, std::log(5.0f), 1000, 0, -1000, -1000, 0, 1000};
  const ScoreInput input = LogitRows(logits, 3);
  const std::vector<double> scores = MadeScore("extra_output {}").Compute(input).value();
  ASSERT_EQ(scores.size(), 4);
  EXPECT_NEAR(scores[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(scores[1], 5.0 / 8, 1e-7);  // log 2 and log 5 are in float
  EXPECT_EQ(scores[2], 0);
  EXPECT_EQ(scores[3], 1);

  const std::vector<double> margins = MadeScore("extra_output { value: MARGIN }").Compute(input).value();
  EXPECT_EQ(margins[0], 0);
  EXPECT_NEAR(margins[1], std::log(2.5), 1e-6);
  EXPECT_EQ(margins[2], -2000);
  EXPECT_EQ(margins[3], 1000);

  EXPECT_EQ(MadeScore("extra_output { value: NEGATED }").Compute(input).value()[3], -1000);
  EXPECT_EQ(MadeScore("extra_output { value: PLAIN }").Compute(input).value()[3], 1000);

  const MadeScore others("extra_output { value: MAX_SOFTMAX_OF_OTHERS }");
  const std::vector<double> of_others = others.Compute(input).value();
  EXPECT_EQ(of_others[0], -0.5);
  EXPECT_NEAR(of_others[1], -2.0 / 3, 1e-7);
  EXPECT_NEAR(of_others[3], -1, 1e-12);
  EXPECT_FALSE(others.Compute(LogitRows(logits, 1)).ok());
}

}  // namespace
}  // namespace openset
