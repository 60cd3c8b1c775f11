#include "core/chart/bar_chart.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(BarChart, HasABarForEachNumberInTheirOrder) {
  BarChart chart;
  chart.title = "improvement";
  chart.label = "AURC, %";
  chart.bars = {{"ensemble", 5.5}, {"odin", -3.25}};
  chart.faint = {"odin"};
  const VegaLite spec = ToVegaLite(chart);
  EXPECT_EQ(spec["data"]["values"].size(), 2);
  EXPECT_EQ(spec["data"]["values"][0]["name"], "ensemble");
  EXPECT_EQ(spec["data"]["values"][0]["value"], 5.5);
  EXPECT_EQ(spec["data"]["values"][0]["opacity"], 1.0);
  EXPECT_LT(spec["data"]["values"][1]["opacity"], 1.0);
  EXPECT_TRUE(spec["layer"][0]["encoding"]["y"]["sort"].is_null());  // not by the alphabet
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["title"], "AURC, %");
  EXPECT_EQ(spec["title"], "improvement");
  EXPECT_EQ(spec["height"], 2 * 18);
}

}  // namespace
}  // namespace openset
