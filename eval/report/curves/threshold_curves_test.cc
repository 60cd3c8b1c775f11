#include "eval/report/curves/threshold_curves.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// By score: a right, an unknown, a wrong and an unknown sample, of two classes.
class ThresholdCurvesTest : public ::testing::Test {
 protected:
  RankedInput Ranked() const {
    EvaluationInput::Arrays arrays;
    arrays.unknown_score = score_;
    arrays.prediction = prediction_;
    arrays.label = label_;
    arrays.num_classes = 2;
    return RankedInput(*EvaluationInput::Create(arrays));
  }

  const std::vector<double> score_ = {1, 2, 3, 4};
  const std::vector<int32_t> prediction_ = {0, 1, 0, 0}, label_ = {0, -1, 1, -1};
};

TEST_F(ThresholdCurvesTest, NaccByRates) {
  const ThresholdCurves curves = MakeThresholdCurves(Ranked(), 100);
  ASSERT_EQ(curves.table.rows.size(), 5);
  ASSERT_EQ(curves.table.header.back(), "nacc_rates");
  // Half of: known samples accepted and right, unknown ones rejected.
  const double expected[] = {(0 + 1) / 2.0, (0.5 + 1) / 2, (0.5 + 0.5) / 2, (0.5 + 0.5) / 2, (0.5 + 0) / 2};
  for (int i = 0; i < 5; ++i) {
    double value = 0;
    ASSERT_TRUE(absl::SimpleAtod(curves.table.rows[i].back(), &value));
    EXPECT_DOUBLE_EQ(value, expected[i]);
  }
  EXPECT_EQ(curves.table.rows[0][0], "-inf");
  EXPECT_EQ(curves.table.rows[2][1], "0.5");  // unknown_rejected
  EXPECT_EQ(curves.plot.series.size(), 6);
}

TEST_F(ThresholdCurvesTest, ThinnedToTheRowsAskedFor) {
  const ThresholdCurves curves = MakeThresholdCurves(Ranked(), 3);
  ASSERT_EQ(curves.table.rows.size(), 3);
  EXPECT_EQ(curves.table.rows[0][0], "-inf");
  EXPECT_EQ(curves.table.rows[2][0], "4");
}

}  // namespace
}  // namespace openset
