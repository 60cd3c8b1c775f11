#include "eval/metrics/threshold_metric.h"

#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-12;

std::map<std::string, ThresholdMetric> Metrics() {
  return {{"open_set_f_macro", OpenSetFMacro()},
          {"open_set_f_micro", OpenSetFMicro()},
          {"youden_macro", YoudenMacro()},
          {"youden_micro", YoudenMicro()},
          {"nacc", NaccEq6()},
          {"nacc_rates", NaccRates()}};
}

double UnknownRejected(const ThresholdValue& value, const RankedInput& ranked) {
  return 1 - static_cast<double>(value.accepted.unknown) / ranked.total().unknown;
}

void ExpectGolden(const ThresholdValue& value, const GoldenCase& golden, const std::string& path,
                  const RankedInput& ranked) {
  EXPECT_NEAR(value.value, *golden.at(path + "/value"), kTolerance);
  const double threshold = *golden.at(path + "/threshold");
  EXPECT_TRUE(value.threshold == threshold) << value.threshold << " is not " << threshold;
  if (const auto rejected = golden.at(path + "/unknown_rejected")) {
    EXPECT_NEAR(UnknownRejected(value, ranked), *rejected, kTolerance);
  }
}

TEST(ThresholdMetric, AgreesWithGoldenValues) {
  for (const GoldenCase& golden : ReadGolden("open_set_metrics.json", "cases")) {
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    for (const auto& [name, metric] : Metrics()) {
      SCOPED_TRACE(absl::StrCat(samples.name, ", ", name));
      OperatingPoint point;
      point.set_threshold(*golden.at("threshold"));
      EXPECT_TRUE(Agrees(AtOperatingPoint(metric, ranked, point), golden.at("at_threshold/" + name)));
      const std::string best = "best_over_thresholds/" + name;
      if (golden.numbers.count(best) > 0) {  // null
        EXPECT_FALSE(AtOperatingPoint(metric, ranked, OperatingPoint()).value.has_value());
        continue;
      }
      ExpectGolden(BestOverThresholds(metric, ranked), golden, best, ranked);
      ExpectGolden(BestOverGrid(metric, ranked, 100), golden, "best_over_grid/" + name, ranked);
      EXPECT_TRUE(Agrees(AtOperatingPoint(metric, ranked, OperatingPoint()), golden.at(best + "/value")));
    }
  }
}

TEST(ThresholdMetric, AgreesWithGoldenValuesOfEveryThreshold) {
  const std::vector<GoldenCase> cases = ReadGolden("open_set_metrics.json", "cases");
  int tables = 0;
  for (const GoldenCase& golden : cases) {
    if (golden.name != "hand_distinct" && golden.name != "hand_ties") continue;
    ++tables;
    const Samples samples = OpenSetSamples(golden);
    const RankedInput ranked(samples.Input());
    const auto rows = ReadGolden("open_set_metrics.json", "threshold_tables/" + golden.name);
    for (const auto& [name, metric] : Metrics()) {
      SCOPED_TRACE(absl::StrCat(golden.name, ", ", name));
      const std::vector<ThresholdValue> values = OverThresholds(metric, ranked);
      ASSERT_EQ(values.size(), rows.size());
      for (int i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(values[i].threshold, *rows[i].at("threshold"));
        EXPECT_NEAR(values[i].value, *rows[i].at(name), kTolerance);
        EXPECT_NEAR(UnknownRejected(values[i], ranked), *rows[i].at("unknown_rejected"), kTolerance);
      }
    }
  }
  EXPECT_EQ(tables, 2);
}

// Two classes; accepted at 0.5: class 0 right and wrong as 1, class 1 right, one unknown as 0. Rejected: one of class
// 1, one unknown.
Samples SixSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.label = {0, 0, 1, 1, -1, -1};
  samples.prediction = {0, 1, 1, 1, 0, 0};
  samples.unknown_score = {0.1, 0.2, 0.3, 0.7, 0.4, 0.9};
  return samples;
}

TEST(ThresholdMetric, FollowsTheFormulas) {
  const Samples samples = SixSamples();
  const RankedInput ranked(samples.Input());
  const auto at = [&ranked](const ThresholdMetric& metric) { return AtThreshold(metric, ranked, 0.5).value; };
  // Class 0: TP 1, FP 1, FN 1, TN 3. Class 1: TP 1, FP 1, FN 1, TN 3. Unknown: TP 1, FP 1.
  EXPECT_NEAR(at(OpenSetFMacro()), 0.5, kTolerance);
  EXPECT_NEAR(at(OpenSetFMicro()), 2 * (2.0 / 4) * (2.0 / 4) / (2.0 / 4 + 2.0 / 4), kTolerance);
  EXPECT_NEAR(at(YoudenMacro()), 1.0 / 2 + 3.0 / 4 - 1, kTolerance);
  EXPECT_NEAR(at(YoudenMicro()), 2.0 / 4 + 6.0 / 8 - 1, kTolerance);
  EXPECT_NEAR(at(NaccEq6(0.25)), 0.25 * (4.0 + 4) / 12 + 0.75 * 1 / (1 + 1), kTolerance);
  EXPECT_NEAR(at(NaccRates(0.25)), 0.25 * 2 / 4 + 0.75 * 1 / 2, kTolerance);
}

TEST(ThresholdMetric, TakesTheSmallestOfEquallyGoodThresholds) {
  Samples samples = SixSamples();
  samples.label = {-1, -1, -1, -1, -1, -1};
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(BestOverThresholds(OpenSetFMicro(), ranked).threshold, -kInfinity);
  EXPECT_EQ(BestOverThresholds(OpenSetFMicro(), ranked).value, 0);
}

TEST(ThresholdMetric, AcceptsScoresOfMinusInfinityAtTheLowestThreshold) {
  Samples samples = SixSamples();
  samples.unknown_score[0] = -kInfinity;
  const RankedInput ranked(samples.Input());
  const std::vector<ThresholdValue> values = OverThresholds(NaccRates(), ranked);
  ASSERT_EQ(values.size(), 6);
  EXPECT_EQ(values[0].threshold, -kInfinity);
  EXPECT_EQ(values[0].accepted, (Tally{1, 0, 0}));
}

TEST(ThresholdAcceptingKnown, IsTheSmallestThatReachesTheShare) {
  const Samples samples = SixSamples();  // known at 0.1, 0.2, 0.3, 0.7
  const RankedInput ranked(samples.Input());
  EXPECT_EQ(ThresholdAcceptingKnown(ranked, 0), -kInfinity);
  EXPECT_EQ(ThresholdAcceptingKnown(ranked, 0.01), 0.1);
  EXPECT_EQ(ThresholdAcceptingKnown(ranked, 0.5), 0.2);
  EXPECT_EQ(ThresholdAcceptingKnown(ranked, 0.51), 0.3);
  EXPECT_EQ(ThresholdAcceptingKnown(ranked, 1), 0.7);
  Samples unknown = samples;
  unknown.label.assign(6, -1);
  EXPECT_EQ(ThresholdAcceptingKnown(RankedInput(unknown.Input()), 0.5), std::nullopt);
}

}  // namespace
}  // namespace openset
