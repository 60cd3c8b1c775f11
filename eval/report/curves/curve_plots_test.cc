#include "eval/report/curves/curve_plots.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RocPlot, OverlaysMethodsAndChance) {
  const Plot plot = RocPlot({{"a", {{0, 0}, {1, 1}}}, {"b", {{0, 0.5}, {1, 1}}}});
  ASSERT_EQ(plot.series.size(), 3);
  EXPECT_EQ(plot.series[1].name, "b");
  EXPECT_NE(plot.series[0].color, plot.series[1].color);
  EXPECT_EQ(plot.series[2].name, "by chance");
  EXPECT_EQ(plot.x_high, 1);
}

TEST(OscrPlot, TellsMoreLinesThanColoursApart) {
  const Plot plot = OscrPlot(std::vector<NamedCurve>(9, {"m", {{0, 0}, {1, 1}}}));
  EXPECT_FALSE(plot.series[1].dashed);
  EXPECT_EQ(plot.series[8].color, plot.series[1].color);
  EXPECT_TRUE(plot.series[8].dashed);
}

TEST(RiskCoveragePlot, ScalesTheRisk) {
  EXPECT_EQ(RiskCoveragePlot({}, RiskOver::kKnown).y_high, 0);
  EXPECT_EQ(RiskCoveragePlot({}, RiskOver::kPool).y_label, "wrong or unknown among them");
}

// Two bins of width 2; one of four samples is outside.
TEST(DensityPlot, HasTheShareOfSamplesAsArea) {
  const Plot plot = DensityPlot("Scores", 0, 4, {{"known", {2, 1}, 4, 0}, {"none", {0, 0}, 0, 1}});
  ASSERT_EQ(plot.series.size(), 1);
  EXPECT_THAT(plot.series[0].points, ElementsAre(Pair(0, 0.25), Pair(2, 0.25), Pair(2, 0.125), Pair(4, 0.125)));
  EXPECT_EQ(plot.x_label, "unknown score (1 of 4 samples lie outside)");
  EXPECT_THAT(DensityPlot("", 3, 3, {{"known", {4}, 4, 0}}).series[0].points, ElementsAre(Pair(3, 1), Pair(3, 1)));
}

}  // namespace
}  // namespace openset
