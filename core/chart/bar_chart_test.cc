#include "core/chart/bar_chart.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(BarChart, HasABarForEachNumberInTheirOrder) {
  BarChart chart;
  chart.title = "improvement";
  chart.label = "AURC, %";
  chart.bars = {{"ensemble", 5.5}, {"odin", -3.25}, {"vim", 1}};
  chart.faint = {"odin"};
  chart.outlined = {"vim"};
  chart.legend = {"faint: not told from 0", "outlined: not tested"};
  const VegaLite spec = ToVegaLite(chart);
  EXPECT_EQ(spec["data"]["values"].size(), 3);
  EXPECT_EQ(spec["data"]["values"][0]["name"], "ensemble");
  EXPECT_EQ(spec["data"]["values"][0]["value"], 5.5);
  EXPECT_EQ(spec["data"]["values"][0]["opacity"], 1.0);
  EXPECT_EQ(spec["data"]["values"][1]["opacity"], 0.45);
  EXPECT_EQ(spec["data"]["values"][2]["opacity"], 0.0);
  EXPECT_TRUE(spec["layer"][0]["encoding"]["y"]["sort"].is_null());  // not by the alphabet
  EXPECT_EQ(spec["layer"][0]["encoding"]["x"]["title"], "AURC, %");
  EXPECT_EQ(spec["title"]["text"], "improvement");
  EXPECT_EQ(spec["title"]["subtitle"][1], "outlined: not tested");
  EXPECT_EQ(spec["height"], 3 * 18);
  chart.title = "";
  EXPECT_EQ(ToVegaLite(chart)["title"]["text"][1], "outlined: not tested");
}

}  // namespace
}  // namespace openset
