#include "eval/curves/curves.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/text/table.h"
#include "eval/metrics/auroc.h"
#include "eval/metrics/openauc.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double Area(const std::vector<CurvePoint>& curve) {
  double area = 0;
  for (size_t i = 1; i < curve.size(); ++i) area += (curve[i].x - curve[i - 1].x) * (curve[i].y + curve[i - 1].y) / 2;
  return area;
}

TEST(Curves, HaveTheAreasOfTheMetrics) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    if (!golden.at("expected/auroc").has_value()) {
      EXPECT_TRUE(RocCurve(ranked).empty());
      EXPECT_TRUE(OscrCurve(ranked).empty());
      continue;
    }
    EXPECT_NEAR(Area(RocCurve(ranked)), *Auroc(ranked).value, 1e-12);
    EXPECT_NEAR(Area(OscrCurve(ranked)), *OpenAuc(ranked).value, 1e-12);
    EXPECT_NEAR(Area(Thinned(RocCurve(ranked), 1000)), *Auroc(ranked).value, 1e-12);
    EXPECT_EQ(RocCurve(ranked).back().y, 1);
    EXPECT_NEAR(OscrCurve(ranked).back().y, *golden.at("expected/accuracy"), 1e-12);
  }
}

// dcurves' net benefit of the decision score > t, at the threshold t where it is largest.
TEST(Curves, NetBenefitIsThatOfDcurves) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("deployment.json", "cases")) {
    const Samples samples = DeploymentSamples(golden);
    const RankedInput ranked(samples.Input());
    const std::vector<CurvePoint> curve = NetBenefitCurve(ranked);
    if (golden.numbers.count("expected/net_benefit/0.2") == 0) {
      EXPECT_TRUE(curve.empty()) << samples.name;
      continue;
    }
    ASSERT_EQ(curve.size(), 99);
    for (const int percent : {1, 10, 20, 35, 50, 80, 99}) {
      const CurvePoint& point = curve[percent - 1];
      EXPECT_DOUBLE_EQ(point.x, percent / 100.0);
      EXPECT_NEAR(point.y, *golden.at(absl::StrCat("expected/net_benefit/", point.x)), 1e-12) << samples.name;
      EXPECT_GE(point.y, NetBenefitWithoutScore(ranked)[percent - 1].y - 1e-15);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 4 * 7);
}

// One of four samples is unknown, and its score is the second largest. Where rejecting a known sample costs a third of
// what an unknown one is worth, the best is to reject two: (1 - 1 / 3) / 4.
TEST(Curves, NetBenefitByHand) {
  Samples samples;
  samples.unknown_score = {0.1, 0.2, 0.8, 0.6};
  samples.label = {0, 0, 0, -1};
  samples.prediction = {0, 0, 0, 0};
  samples.num_classes = 1;
  const std::vector<CurvePoint> curve = NetBenefitCurve(RankedInput(samples.Input()));
  ASSERT_EQ(curve.size(), 99);
  EXPECT_NEAR(curve[24].y, (1 - 1.0 / 3) / 4, 1e-12);
  EXPECT_EQ(curve[24].threshold, 0.2);
  EXPECT_NEAR(curve[9].y, (1 - 1.0 / 9) / 4, 1e-12);
  EXPECT_NEAR(curve[59].y, 0, 1e-12);  // 1.5 known ones for one unknown: reject none
  EXPECT_NEAR(NetBenefitWithoutScore(RankedInput(samples.Input()))[9].y, (1 - 3.0 / 9) / 4, 1e-12);
}

// At each prevalence and cost, the curve has the metric's value, and its threshold is a best one.
TEST(Curves, CostsAreThoseOfTheMetric) {
  int compared = 0;
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    SCOPED_TRACE(samples.name);
    const RankedInput ranked(samples.Input());
    const std::vector<CurvePoint> curve = CostCurve(ranked);
    if (!golden.at("expected/auroc").has_value()) {
      EXPECT_TRUE(curve.empty());
      continue;
    }
    EXPECT_EQ(curve.front().x, 0);
    EXPECT_EQ(curve.back().x, 1);
    for (const auto& [prevalence, cost] : {std::pair(0.5, 1.0), {0.01, 10.0}, {0.2, 0.5}, {0.9, 7.0}}) {
      const double odds = prevalence * cost, x = odds / (odds + 1 - prevalence);
      size_t after = 1;
      while (after + 1 < curve.size() && curve[after].x < x) ++after;
      const CurvePoint &a = curve[after - 1], &b = curve[after];
      const double y = b.x > a.x ? a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x) : a.y;
      const auto metric = [&](const std::string& at) {
        return Compute(absl::StrCat("expected_cost { prevalence: ", prevalence, " unknown_cost: ", cost, at, "}"),
                       ranked);
      };
      const double expected = *metric("").value;
      EXPECT_NEAR(y * (odds + 1 - prevalence), expected, 1e-12);
      if (std::isfinite(a.threshold)) {
        EXPECT_NEAR(*metric(absl::StrCat(" at { threshold: ", FullPrecision(a.threshold), " }")).value, expected,
                    1e-12);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 10);
}

// By score: correct 0, unknown and wrong tied at 1, correct 2.
Samples FourSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0, 1, 1, 2};
  samples.label = {0, -1, 0, 1};
  samples.prediction = {0, 0, 1, 1};
  return samples;
}

TEST(Curves, HaveOnePointADistinctScore) {
  const Samples samples = FourSamples();
  const RankedInput ranked(samples.Input());
  const std::vector<CurvePoint> oscr = OscrCurve(ranked);
  ASSERT_EQ(oscr.size(), 4);
  EXPECT_EQ(oscr[0].threshold, -kInfinity);
  EXPECT_EQ(oscr[2].threshold, 1);
  EXPECT_EQ(oscr[2].x, 1);
  EXPECT_EQ(oscr[2].y, 1.0 / 3);
  const std::vector<CurvePoint> known = RiskCoverageCurve(ranked, RiskSamples::KNOWN);
  ASSERT_EQ(known.size(), 3);
  EXPECT_EQ(known[1].x, 2.0 / 3);
  EXPECT_EQ(known[1].y, 1.0 / 2);
  const std::vector<CurvePoint> pool = RiskCoverageCurve(ranked, RiskSamples::POOL);
  EXPECT_EQ(pool[1].x, 3.0 / 4);
  EXPECT_EQ(pool[1].y, 2.0 / 3);
  EXPECT_EQ(pool[2].y, 2.0 / 4);
}

TEST(Thinned, KeepsEndsAndBends) {
  const std::vector<CurvePoint> curve = {{0, 0, 0}, {1, 0, 0.5}, {2, 0, 1}, {3, 0.5, 1}, {4, 1, 1}};
  const std::vector<CurvePoint> bends = Thinned(curve, 10);
  ASSERT_EQ(bends.size(), 3);
  EXPECT_EQ(bends[1].threshold, 2);
  const std::vector<CurvePoint> ends = Thinned(curve, 2);
  ASSERT_EQ(ends.size(), 2);
  EXPECT_EQ(ends[0].threshold, 0);
  EXPECT_EQ(ends[1].threshold, 4);
  EXPECT_TRUE(Thinned({}, 5).empty());
}

// Stairs of 100 steps; a triangle of one has an area of 1 / 20000.
TEST(Thinned, LosesAtMostTheAllowedArea) {
  std::vector<CurvePoint> stairs = {{0, 0, 0}};
  for (int i = 0; i < 100; ++i) {
    stairs.push_back({0, i / 100.0, (i + 1) / 100.0});
    stairs.push_back({0, (i + 1) / 100.0, (i + 1) / 100.0});
  }
  const std::vector<CurvePoint> thin = Thinned(stairs, 1000, 1e-3);
  EXPECT_LT(thin.size(), stairs.size());
  EXPECT_GT(thin.size(), 100);
  EXPECT_NEAR(Area(thin), Area(stairs), 1.001e-3);
  EXPECT_EQ(Thinned(stairs, 50, 1e-3).size(), 50);
}

// Of the scores 0, 1, ..., 98 and a million the percentiles are 0 and 98; a quarter of their distance is 24.5.
TEST(RangeOfDensities, LeavesFewExtremeScoresOut) {
  Samples samples;
  samples.num_classes = 1;
  for (int i = 0; i < 100; ++i) samples.unknown_score.push_back(i < 99 ? i : 1e6);
  samples.label.assign(100, 0);
  samples.prediction.assign(100, 0);
  const ScoreHistogram histogram = ScoreDensities(RankedInput(samples.Input()), 5);
  EXPECT_EQ(histogram.bins.front().low, 0);
  EXPECT_EQ(histogram.bins.back().high, 98 + 24.5);
  EXPECT_EQ(histogram.above, (Tally{1, 0, 0}));
  EXPECT_EQ(histogram.below, (Tally{0, 0, 0}));
}

TEST(ScoreDensities, CountsEachKindAndInfinitiesApart) {
  Samples samples = FourSamples();
  ScoreHistogram histogram = ScoreDensities(RankedInput(samples.Input()), 2);
  ASSERT_EQ(histogram.bins.size(), 2);
  EXPECT_EQ(histogram.bins[0].high, 1);
  EXPECT_EQ(histogram.bins[0].count, (Tally{1, 0, 0}));
  EXPECT_EQ(histogram.bins[1].count, (Tally{1, 1, 1}));
  samples.unknown_score = {-kInfinity, 1, 1, kInfinity};
  histogram = ScoreDensities(RankedInput(samples.Input()), 2);
  ASSERT_EQ(histogram.bins.size(), 1);
  EXPECT_EQ(histogram.bins[0].count, (Tally{0, 1, 1}));
  EXPECT_EQ(histogram.below, (Tally{1, 0, 0}));
  EXPECT_EQ(histogram.above, (Tally{1, 0, 0}));
}

// The difference between these scores is larger than the largest double.
TEST(ScoreDensities, OfScoresFarApart) {
  Samples samples;
  samples.unknown_score = {-1.5e308, -1e308, 1e308, 1.5e308};
  samples.label = {0, 0, 0, 0};
  samples.prediction = {0, 0, 0, 0};
  const ScoreHistogram histogram = ScoreDensities(RankedInput(samples.Input()), 4);
  ASSERT_EQ(histogram.bins.size(), 4);
  for (int b = 0; b < 4; ++b) {
    EXPECT_NEAR(histogram.bins[b].low / 1e308, -1.5 + 0.75 * b, 1e-12);
    EXPECT_EQ(histogram.bins[b].count, (Tally{b == 0 || b == 3 ? 2U : 0U, 0, 0}));
  }
  EXPECT_EQ(histogram.bins[3].high, 1.5e308);
}

}  // namespace
}  // namespace openset
