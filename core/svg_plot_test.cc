#include "core/svg_plot.h"

#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

size_t Count(const std::string& text, const std::string& part) {
  const std::vector<std::string> parts = absl::StrSplit(text, part);
  return parts.size() - 1;
}

PlotSeries Line(std::vector<std::pair<double, double>> points) {
  PlotSeries series;
  series.points = std::move(points);
  return series;
}

// 560 x 420 without title and legend: the axes go from (64, 12) to (544, 372).
TEST(ToSvg, MapsDataToPixels) {
  Plot plot;
  plot.x_high = 10;
  plot.y_high = 2;
  plot.series = {Line({{0, 0}, {10, 2}, {5, 1}})};
  EXPECT_THAT(ToSvg(plot), HasSubstr("<path d=\"M64.00 372.00L544.00 12.00L304.00 192.00\""));
}

TEST(ToSvg, WhatIsNotFiniteBreaksTheLine) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Plot plot;
  plot.x_high = plot.y_high = 1;
  plot.series = {Line({{0, 0}, {0.5, nan}, {1, 1}})};
  const std::string svg = ToSvg(plot);
  EXPECT_THAT(svg, HasSubstr("<path d=\"M64.00 372.00M544.00 12.00\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

// Without a range the axes are those of the data, also where there is none or only one value.
TEST(ToSvg, FindsTheRange) {
  Plot plot;
  plot.series = {Line({{-3, 7}, {5, 7}})};
  EXPECT_THAT(ToSvg(plot), HasSubstr("<path d=\"M64.00 192.00L544.00 192.00\""));
  EXPECT_THAT(ToSvg(Plot()), HasSubstr("</svg>"));
  plot.series = {Line({{std::numeric_limits<double>::infinity(), 1}})};
  EXPECT_THAT(ToSvg(plot), Not(HasSubstr("inf")));
}

TEST(ToSvg, NamesAreInTheLegendAndEscaped) {
  Plot plot;
  plot.title = "a < b";
  plot.series = {Line({{0, 0}, {1, 1}}), Line({{0, 1}, {1, 0}})};
  plot.series[0].name = "\"x\" & y";
  const std::string svg = ToSvg(plot);
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("&quot;x&quot; &amp; y"));
}

TEST(ToSvg, Rows) {
  Plot plot;
  plot.width = 100;
  plot.height = 50;
  const std::string svg = ToSvg(std::vector<std::vector<Plot>>{{plot, plot}, {plot}});
  EXPECT_TRUE(absl::StartsWith(
      svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"100\" viewBox=\"0 0 200 100\">"));
  EXPECT_THAT(svg, HasSubstr("translate(100 0)"));
  EXPECT_THAT(svg, HasSubstr("translate(0 50)"));
  EXPECT_EQ(Count(svg, "<svg"), Count(svg, "</svg>"));
}

TEST(ToHtmlPage, NeedsNothingButItself) {
  const std::string html = ToHtmlPage("a & b", {ToSvg(Plot())});
  EXPECT_THAT(html, HasSubstr("<title>a &amp; b</title>"));
  for (const char* outside : {"src=", "href=", "<script", "@import"}) EXPECT_THAT(html, Not(HasSubstr(outside)));
}

}  // namespace
}  // namespace openset
