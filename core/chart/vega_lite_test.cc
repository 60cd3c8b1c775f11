#include "core/chart/vega_lite.h"

#include <limits>

#include "core/testing/status_matchers.h"

namespace openset {
namespace {

Plot OneLine() {
  Plot plot;
  plot.x_label = "epoch";
  plot.series.emplace_back();
  plot.series[0].name = "loss";
  plot.series[0].points = {{0, 2.5}, {1, 1.25}};
  return plot;
}

std::string DataOf(const VegaLite& spec) { return spec["data"]["values"]; }

TEST(ToVegaLite, HoldsThePointsAsCsv) {
  EXPECT_EQ(DataOf(ToVegaLite(OneLine())),
            "s,k,p,i,x,y,l,h,a\n"
            "\"loss\",l,0,0,0,2.5,,,\n"
            "\"loss\",l,0,1,1,1.25,,,\n");
  EXPECT_EQ(ToVegaLite(OneLine())["layer"][0]["encoding"]["x"]["title"], "epoch");
}

TEST(ToVegaLite, HasATitleAndExplainsTheBands) {
  Plot plot = OneLine();
  plot.subtitle = "mean of 3 trials";
  EXPECT_EQ(ToVegaLite(plot)["title"]["text"], "mean of 3 trials");
  plot.title = "ROC";
  EXPECT_EQ(ToVegaLite(plot)["title"]["text"], "ROC");
  EXPECT_EQ(ToVegaLite(plot)["title"]["subtitle"], "mean of 3 trials");
  plot.subtitle = "";
  EXPECT_EQ(ToVegaLite(plot)["title"], "ROC");
}

TEST(ToVegaLite, NonFiniteValuesBreakTheLine) {
  Plot plot = OneLine();
  plot.series[0].points = {{0, 1}, {1, std::numeric_limits<double>::quiet_NaN()}, {2, 3}};
  EXPECT_THAT(DataOf(ToVegaLite(plot)), HasSubstr("\"loss\",l,0,0,0,1,"));
  EXPECT_THAT(DataOf(ToVegaLite(plot)), HasSubstr("\"loss\",l,1,2,2,3,"));
  EXPECT_THAT(DataOf(ToVegaLite(plot)), Not(HasSubstr("nan")));
}

TEST(ToVegaLite, ALogarithmicAxisLeavesOutValuesBelowZero) {
  Plot plot = OneLine();
  plot.x_log = true;
  EXPECT_THAT(DataOf(ToVegaLite(plot)), Not(HasSubstr(",0,2.5,")));
  EXPECT_EQ(ToVegaLite(plot)["layer"][0]["encoding"]["x"]["scale"]["type"], "log");
}

TEST(ToVegaLite, NamesAreQuotedAndUnnamedSeriesAreNotInTheLegend) {
  Plot plot = OneLine();
  plot.series[0].name = "a \"b\", c";
  plot.series.push_back(OneLine().series[0]);
  plot.series[1].name = "";
  const VegaLite spec = ToVegaLite(plot);
  EXPECT_THAT(DataOf(spec), HasSubstr("\"a \"\"b\"\", c\",l,"));
  EXPECT_EQ(spec["layer"][0]["encoding"]["color"]["legend"]["values"].size(), 1);
  EXPECT_EQ(spec["layer"][0]["encoding"]["color"]["scale"]["domain"].size(), 2);
}

// Colours and dashes share one legend, because field, names and entries are the same.
TEST(ToVegaLite, TheLegendShowsDashes) {
  Plot plot = OneLine();
  plot.series.push_back(OneLine().series[0]);
  plot.series[1].name = "other";
  plot.series[1].dashed = true;
  const VegaLite encoding = ToVegaLite(plot)["layer"][0]["encoding"];
  EXPECT_EQ(encoding["strokeDash"]["scale"]["range"], VegaLite::parse("[[1, 0], [6, 4]]"));
  EXPECT_EQ(encoding["strokeDash"]["scale"]["domain"], encoding["color"]["scale"]["domain"]);
  EXPECT_EQ(encoding["strokeDash"]["legend"], encoding["color"]["legend"]);
  EXPECT_EQ(encoding["strokeDash"]["field"], encoding["color"]["field"]);
  EXPECT_EQ(encoding["color"]["legend"]["symbolType"], "stroke");
  plot.series[0].kind = SeriesKind::kArea;  // densities have filled symbols
  EXPECT_FALSE(ToVegaLite(plot)["layer"][0]["encoding"]["color"]["legend"].contains("symbolType"));
}

TEST(ToVegaLite, WholeNumbersHaveATickOnce) {
  Plot plot = OneLine();
  plot.x_whole = true;
  const auto axis = [&] { return ToVegaLite(plot)["layer"][0]["encoding"]["x"]["axis"]; };
  EXPECT_EQ(axis()["values"], VegaLite::parse("[0, 1]"));
  plot.series[0].points = {{0, 2}, {9.5, 1}};
  EXPECT_EQ(axis()["values"].size(), 10);
  plot.series[0].points = {{0, 2}, {600, 1}};  // where they are round
  EXPECT_FALSE(axis().contains("values"));
  EXPECT_EQ(axis()["tickMinStep"], 1);
}

TEST(ToVegaLite, BandsAndRanges) {
  Plot plot = OneLine();
  plot.y_low = 0;
  plot.y_high = 3;
  plot.series[0].band = {{2, 3}, {1, 1.5}};
  const VegaLite spec = ToVegaLite(plot);
  EXPECT_THAT(DataOf(spec), HasSubstr("\"loss\",l,0,1,1,1.25,1,1.5,\n"));
  EXPECT_EQ(spec["layer"][0]["mark"]["type"], "area");  // below the line
  EXPECT_EQ(spec["layer"][1]["encoding"]["y"]["scale"]["domain"], VegaLite({0, 3}));
}

TEST(ToVegaLite, TheLegendHasTheColumnsThatFit) {
  Plot plot = OneLine();  // 480 pixels
  const auto columns = [&] { return ToVegaLite(plot)["layer"][0]["encoding"]["color"]["legend"]["columns"]; };
  EXPECT_EQ(columns(), 3);
  plot.series[0].name = std::string(25, 'x');
  EXPECT_EQ(columns(), 2);
  plot.width = 200;
  EXPECT_EQ(columns(), 1);
}

TEST(ToVegaLite, RowsAreStill) {
  const VegaLite spec = ToVegaLite({{OneLine(), OneLine()}, {OneLine()}});
  EXPECT_EQ(spec["vconcat"].size(), 2);
  EXPECT_EQ(spec["vconcat"][0]["hconcat"].size(), 2);
  EXPECT_THAT(ToVegaLite(OneLine()).dump(), HasSubstr("\"params\""));
  EXPECT_THAT(spec.dump(), Not(HasSubstr("\"param")));
}

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

TEST(HeatMap, HoldsEachFiniteNumberWithItsNames) {
  HeatMap map;
  map.title = "mcp";
  map.row_label = "unknown";
  map.column_label = "known";
  map.rows = {"wolf", "a \"b\""};
  map.columns = {"dog", "cat"};
  map.values = {0.75, 0.25, std::numeric_limits<double>::quiet_NaN(), 0.5};
  const VegaLite spec = ToVegaLite({{map, map}, {map}}, 0, 1, "mean softmax");
  ASSERT_EQ(spec["vconcat"].size(), 2);
  ASSERT_EQ(spec["vconcat"][0]["hconcat"].size(), 2);
  const VegaLite& unit = spec["vconcat"][0]["hconcat"][0];
  EXPECT_EQ(unit["data"]["values"],
            "r,c,v\n\"wolf\",\"dog\",0.75\n\"wolf\",\"cat\",0.25\n\"a \"\"b\"\"\",\"cat\",0.5\n");
  EXPECT_EQ(unit["encoding"]["x"]["scale"]["domain"], VegaLite({"dog", "cat"}));
  EXPECT_EQ(unit["encoding"]["color"]["scale"]["domain"], VegaLite({0.0, 1.0}));
  EXPECT_EQ(unit["title"], "mcp");
  EXPECT_EQ(unit["encoding"]["x"]["axis"]["labels"], true);
  EXPECT_EQ(spec["resolve"]["scale"]["color"], "shared");
}

}  // namespace
}  // namespace openset
