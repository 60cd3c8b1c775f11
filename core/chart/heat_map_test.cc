#include "core/chart/heat_map.h"

#include <limits>

#include "gtest/gtest.h"

namespace openset {
namespace {

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
