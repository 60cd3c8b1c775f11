#include "experiments/figures/toy_softmax.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace openset {
namespace {

// Row and column of the grid point nearest to (x, y).
double At(const ToySoftmaxSpec& spec, const ToyMap& map, double x, double y) {
  const auto line = [&](double at) {
    return static_cast<int>(std::lround((at / spec.range() + 1) / 2 * (spec.grid() - 1)));
  };
  return map.value[(spec.grid() - 1 - line(y)) * spec.grid() + line(x)];
}

// The mean over the grid points at the square's edge.
double MeanAtTheEdge(const ToySoftmaxSpec& spec, const ToyMap& map) {
  double sum = 0;
  int places = 0;
  for (int row = 0; row < spec.grid(); ++row) {
    for (int column = 0; column < spec.grid(); ++column) {
      if (std::min(row, column) > 0 && std::max(row, column) < spec.grid() - 1) continue;
      sum += map.value[row * spec.grid() + column];
      ++places;
    }
  }
  return sum / places;
}

// With six other generators' samples the means at the edge were 0.984 to 0.986, 0.967 to 0.976, and 0.56 to 0.64 with
// outliers.
TEST(ToySoftmaxMaps, AreSureNearTheClassesAndFarFromThemWithoutOutliers) {
  const ToySoftmaxSpec spec;
  const std::vector<ToyMap> maps = ToySoftmaxMaps(spec, 0);
  ASSERT_EQ(maps.size(), 3);
  for (const ToyMap& map : maps) {
    EXPECT_EQ(map.value.size(), spec.grid() * spec.grid()) << map.method;
    for (const double value : map.value) {
      EXPECT_GE(value, 1.0 / 3 - 1e-12) << map.method;
      EXPECT_LE(value, 1) << map.method;
    }
    // The class at the top, and one at the lower left.
    EXPECT_GT(At(spec, map, 0, 1.5), 0.8) << map.method;
    EXPECT_GT(At(spec, map, -1.3, -0.75), 0.8) << map.method;
  }
  EXPECT_GT(MeanAtTheEdge(spec, maps[0]), 0.93);
  EXPECT_GT(MeanAtTheEdge(spec, maps[1]), 0.9);
  EXPECT_LT(MeanAtTheEdge(spec, maps[2]), 0.8);
}

// The mean's largest output is at most the mean of the largest ones; one member is the network alone.
TEST(ToySoftmaxMaps, AnEnsembleOfOneIsItsMember) {
  ToySoftmaxSpec spec;
  spec.set_members(1);
  spec.set_steps(20);
  spec.set_grid(5);
  const std::vector<ToyMap> maps = ToySoftmaxMaps(spec, 7);
  EXPECT_EQ(maps[0].value, maps[1].value);
  EXPECT_NE(maps[0].value, maps[2].value);
  EXPECT_EQ(ToySoftmaxMaps(spec, 7)[0].value, maps[0].value);
  EXPECT_NE(ToySoftmaxMaps(spec, 8)[0].value, maps[0].value);
}

// A square of 3 x 3: -2, 0, 2.
TEST(ToyCoordinate, IsSpreadOverTheSquare) {
  ToySoftmaxSpec spec;
  spec.set_grid(3);
  spec.set_range(2);
  EXPECT_EQ(ToyCoordinate(spec, 0), -2);
  EXPECT_EQ(ToyCoordinate(spec, 1), 0);
  EXPECT_EQ(ToyCoordinate(spec, 2), 2);
}

}  // namespace
}  // namespace openset
