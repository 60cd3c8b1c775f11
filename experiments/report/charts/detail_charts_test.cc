#include "experiments/report/charts/detail_charts.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.pb.h"
#include "experiments/store/details.pb.h"

namespace openset {
namespace {

TrialSpec Trial(const std::string& method, int split) {
  TrialSpec trial;
  trial.set_task("t");
  trial.mutable_method()->set_name(method);
  trial.set_split(split);
  return trial;
}

TrialRecord Record(const std::string& details) { return Parsed<TrialRecord>("details { " + details + " }"); }

double Area(const PlotSeries& line) {
  double area = 0;
  for (size_t i = 1; i < line.points.size(); ++i) {
    area += (line.points[i].first - line.points[i - 1].first) * (line.points[i].second + line.points[i - 1].second) / 2;
  }
  return area;
}

TEST(CurveCharts, OverlayMethodsAndAverageTrials) {
  // Areas 1/2, 1 (all known samples before any unknown one), and 1/2.
  const TrialRecord half = Record("curve { kind: ROC x: [0, 1] y: [0, 1] }");
  const TrialRecord whole = Record("curve { kind: ROC x: [0, 0, 1] y: [0, 1, 1] }");
  const TrialSpec first = Trial("a", 0), second = Trial("a", 1), other = Trial("b", 0);
  const std::vector<ReportChart> charts =
      CurveCharts({{&first, &half}, {&second, &whole}, {&other, &half}, {&other, nullptr}});
  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0].of, "roc");
  ASSERT_EQ(charts[0].plot.series.size(), 3);  // a, b, chance
  EXPECT_NEAR(Area(charts[0].plot.series[0]), 0.75, 1e-3);
  EXPECT_THAT(charts[0].plot.series[0].points, ElementsAre(Pair(0, 0), Pair(0, 0.5), Pair(1, 1)));
  EXPECT_THAT(charts[0].plot.series[1].points, ElementsAre(Pair(0, 0), Pair(1, 1)));
  // Heights 0 and 1 at 0 after the start, 1 and 1 at 1; of one trial no band.
  EXPECT_THAT(charts[0].plot.series[0].band, ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 1)));
  EXPECT_THAT(charts[0].plot.series[1].band, IsEmpty());
  EXPECT_EQ(charts[0].plot.subtitle, BandText(Spread::kPopulation));
}

TEST(CurveCharts, SetsHavePlotsOfTheirOwnBehindThePool) {
  const TrialRecord record = Record(
      "curve { kind: ROC set: 'svhn' x: [0, 1] y: [0, 1] } "
      "curve { kind: OSCR x: [0, 1] y: [0, 1] }");
  const TrialSpec trial = Trial("a", 0);
  const std::vector<ReportChart> charts = CurveCharts({{&trial, &record}});
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[0].of, "oscr");
  EXPECT_EQ(charts[1].of, "roc_svhn");
}

// A mean over them would mix different tasks.
TEST(CurveCharts, LevelsOfOpennessHavePlotsOfTheirOwn) {
  const TrialRecord half = Record("curve { kind: ROC x: [0, 1] y: [0, 1] }");
  const TrialRecord whole = Record("curve { kind: ROC x: [0, 0, 1] y: [0, 1, 1] }");
  const auto at_level = [](int unknown_classes, double openness) {
    TrialSpec trial = Trial("a", 0);
    trial.set_openness(openness);
    Selection* selection = trial.mutable_data()->add_test_unknown()->mutable_selection();
    for (int id = 0; id < unknown_classes; ++id) selection->add_class_id(id);
    return trial;
  };
  const TrialSpec few = at_level(1, 0.125), many = at_level(2, 0.25);
  const std::vector<ReportChart> charts = CurveCharts({{&few, &half}, {&many, &whole}});
  ASSERT_EQ(charts.size(), 2);
  EXPECT_EQ(charts[0].of, "roc");
  EXPECT_EQ(charts[0].name, "roc_0_1");
  EXPECT_THAT(charts[0].plot.title, EndsWith(", t, 1 unknown class, openness 0.125"));
  EXPECT_NEAR(Area(charts[0].plot.series[0]), 0.5, 1e-9);
  EXPECT_EQ(charts[1].name, "roc_0_2");
  EXPECT_NEAR(Area(charts[1].plot.series[0]), 1, 1e-9);
}

TEST(CurveCharts, NeedDetails) {
  const TrialRecord record;
  const TrialSpec trial = Trial("a", 0);
  EXPECT_THAT(CurveCharts({{&trial, &record}}), IsEmpty());
  EXPECT_THAT(ExampleTrials({{&trial, &record}}, 9), IsEmpty());
}

TEST(DensityCharts, ShowTheFirstTrialOfALine) {
  const TrialRecord record = Record(
      "density { low: 0 high: 2 series { kind: KNOWN_RIGHT count: [3, 1] below: 0 above: 0 } "
      "series { kind: UNKNOWN count: [0, 1] below: 0 above: 1 } }");
  const TrialSpec first = Trial("a", 0), second = Trial("a", 1);
  const std::vector<ExampleTrial> examples = ExampleTrials({{&first, &record}, {&second, &record}}, 9);
  ASSERT_EQ(examples.size(), 1);
  EXPECT_EQ(examples[0].trial, &first);
  const std::vector<ReportChart> charts = DensityCharts(examples);
  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0].plot.title, "a: split 0, seed 0");
  EXPECT_EQ(charts[0].plot.series[1].name, "unknown");
  EXPECT_EQ(charts[0].plot.series[1].points[2].second, 0.5);  // one of two samples in a bin of width 1
}

// Two near sets are one category, of 4 and 2 samples: 3 and 2 of the six are in the first bin.
TEST(CategoryDensityCharts, JoinNearSetsAndFarOnes) {
  const TrialRecord record = Record(
      "density { low: 0 high: 2 series { kind: KNOWN_RIGHT count: [3, 1] } series { kind: KNOWN_WRONG count: [1, 1] } "
      "series { kind: UNKNOWN set: 'cifar' count: [1, 3] } series { kind: UNKNOWN set: 'svhn' count: [0, 5] } "
      "series { kind: UNKNOWN set: 'tin' count: [2, 0] } }");
  TrialSpec trial = Trial("a", 0);
  for (const char* set : {"cifar", "svhn", "tin"}) {
    UnknownGroup* group = trial.mutable_data()->add_test_unknown();
    group->set_name(set);
    group->set_distance(set == std::string("svhn") ? UnknownGroup::FAR : UnknownGroup::NEAR);
  }
  const std::vector<ExampleTrial> examples = ExampleTrials({{&trial, &record}}, 9);
  const std::vector<ReportChart> charts = CategoryDensityCharts(examples);
  ASSERT_EQ(charts.size(), 1);
  EXPECT_EQ(charts[0].of, "categories_a");
  std::vector<std::string> names;
  for (const PlotSeries& series : charts[0].plot.series) names.push_back(series.name);
  EXPECT_THAT(names, ElementsAre("known, right", "known, wrong", "near", "far"));
  EXPECT_EQ(charts[0].plot.series[2].points[0].second, 0.5);  // 3 of 6, in bins of width 1
  EXPECT_EQ(DensityCharts(examples)[0].plot.series.size(), 5);
  EXPECT_EQ(DensityCharts(examples)[0].plot.series[2].name, "cifar (near)");
  for (UnknownGroup& group : *trial.mutable_data()->mutable_test_unknown()) group.clear_distance();
  EXPECT_THAT(CategoryDensityCharts(ExampleTrials({{&trial, &record}}, 9)), IsEmpty());
}

}  // namespace
}  // namespace openset
