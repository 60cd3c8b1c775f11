#include "experiments/figures/make_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

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

FigureSpec Parse(const std::string& text) { return Parsed<FigureSpec>(text); }

// A column as numbers.
std::vector<double> Column(const Table& table, const std::string& name) {
  std::vector<double> values;
  for (size_t c = 0; c < table.header.size(); ++c) {
    if (table.header[c] != name) continue;
    for (const std::vector<std::string>& row : table.rows) {
      EXPECT_TRUE(absl::SimpleAtod(row[c], &values.emplace_back())) << row[c];
    }
  }
  return values;
}

TEST(MakeFigure, ImbalanceOfEveryChoiceOfClasses) {
  const Figure figure = MakeFigure(Parse("name: 'x' imbalance { classes: 3 samples_per_class: 100 }"));
  EXPECT_THAT(Column(figure.data, "known_classes"), ElementsAre(1, 1, 2));
  EXPECT_THAT(Column(figure.data, "unknown_classes"), ElementsAre(1, 2, 1));
  EXPECT_THAT(Column(figure.data, "known_samples"), ElementsAre(100, 100, 200));
  EXPECT_THAT(Column(figure.data, "known_per_unknown"), ElementsAre(1, 0.5, 2));
  EXPECT_DOUBLE_EQ(Column(figure.data, "openness")[1], 1 - std::sqrt(0.5));
  // Ten classes: 45 choices.
  EXPECT_EQ(MakeFigure(Parse("name: 'x' imbalance {}")).data.rows.size(), 45);
}

// Means over 400 repetitions, from bins of width 1/1000. With 200 known and 20 unknown samples the balanced accuracy of
// a repetition has a standard deviation of sqrt(1/200 + 1/20) / 4 = 0.0586, its mean one of 0.0029: 0.02 is 6.8 of them
// (chance 1e-11). F1 is near 2 p s / (p + s) for the chance p and the share s = 10/11 of known samples.
TEST(MakeFigure, RandomPredictionsOfImbalancedClasses) {
  const Figure figure = MakeFigure(
      Parse("name: 'x' random_predictions { known_classes: 20 unknown_classes: 2 repetitions: 400 bins: 1000 "
            "chance: [HALF_CHANCE, PRIOR] }"));
  std::map<std::string, double> sum, count;
  for (const std::vector<std::string>& row : figure.data.rows) {
    double low = 0, repetitions = 0;
    ASSERT_TRUE(absl::SimpleAtod(row[4], &low) && absl::SimpleAtod(row[6], &repetitions));
    sum[absl::StrCat(row[0], " ", row[3])] += repetitions * (low + 0.0005);
    count[absl::StrCat(row[0], " ", row[3])] += repetitions;
  }
  ASSERT_EQ(sum.size(), 6);
  for (auto& [name, value] : sum) {
    EXPECT_EQ(count[name], 400) << name;
    value /= 400;
  }
  EXPECT_NEAR(sum["1/2 balanced_accuracy"], 0.5, 0.02);
  EXPECT_NEAR(sum["prior balanced_accuracy"], 0.5, 0.02);
  EXPECT_NEAR(sum["1/2 f1"], 2 * 0.5 * 10 / 11 / (0.5 + 10.0 / 11), 0.02);
  EXPECT_NEAR(sum["prior f1"], 10.0 / 11, 0.02);  // over 80 % at random, as the paper says
  EXPECT_NEAR(sum["1/2 accuracy"], 0.5, 0.02);
  EXPECT_NEAR(sum["prior accuracy"], (100.0 + 1) / 121, 0.02);
}

// What Figure 1 of OpenAUC shows: the best thresholds by Youden's J and NAcc (Eq. 6) reject almost no unknown sample,
// and at a threshold that rejects most of them, the metrics are far below their best.
TEST(MakeFigure, MetricsFallWhereUnknownSamplesAreRejected) {
  const Figure figure = MakeFigure(
      Parse("name: 'x' metrics_over_tpr { task { name: 't' known_classes: 20 known_samples: 1000 unknown_samples: 500 "
            "accuracy: 0.9 unknown_mean: 1.5 } }"));
  const std::vector<double> rejected = Column(figure.data, "unknown_rejected");
  EXPECT_EQ(rejected.front(), 1);
  EXPECT_EQ(rejected.back(), 0);
  for (const char* name : {"youden_macro", "youden_micro", "open_set_f_macro", "open_set_f_micro"}) {
    const std::vector<double> values = Column(figure.data, name);
    ASSERT_EQ(values.size(), rejected.size());
    size_t best = 0, strict = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] > values[best]) best = i;
      if (rejected[i] >= 0.95) strict = i;
    }
    EXPECT_LT(rejected[best], 0.8) << name;
    EXPECT_LT(values[strict], 0.9 * values[best]) << name;
  }
}

TEST(MakeFigure, TheSameSpecGivesTheSameFigure) {
  const std::string text =
      "name: 'x' metrics_over_tpr { task { known_classes: 2 known_samples: 9 unknown_samples: 9 "
      "accuracy: 0.9 } }";
  EXPECT_EQ(MakeFigure(Parse(text)).chart, MakeFigure(Parse(text)).chart);
  EXPECT_NE(MakeFigure(Parse(text)).chart, MakeFigure(Parse("seed: 1 " + text)).chart);
}

TEST(MakeFigure, EverySpecOfTheFolderIsValid) {
  int specs = 0;
  const std::vector<std::string> files = *ListFolder("experiments/figures");
  for (const std::string& file : files) {
    if (!absl::EndsWith(file, ".textproto")) continue;
    FigureSpec spec;
    ASSERT_OK_AND_ASSIGN(const auto source, ReadTextProto("experiments/figures/" + file, &spec));
    EXPECT_EQ(spec.name() + ".textproto", file);
    EXPECT_TRUE(MakeFigure(spec).chart.contains("$schema"));
    ++specs;
  }
  EXPECT_EQ(specs, 4);
}

TEST(MakeFigure, SoftmaxOverAPlane) {
  const Figure figure = MakeFigure(Parse("name: 'x' toy_softmax { steps: 2 grid: 3 range: 2 }"));
  ASSERT_EQ(figure.data.rows.size(), 3 * 9);
  EXPECT_EQ(figure.data.rows[0][0], "MCP");
  EXPECT_THAT(Column(figure.data, "x")[1], 0);
  EXPECT_THAT(Column(figure.data, "y")[0], 2);  // from the top down
  EXPECT_EQ(figure.chart["vconcat"][0]["hconcat"].size(), 3);
  EXPECT_EQ(figure.chart["vconcat"][0]["hconcat"][1]["title"], "Deep Ensemble");
}

}  // namespace
}  // namespace openset
