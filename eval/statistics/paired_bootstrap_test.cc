#include "eval/statistics/paired_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "core/random.h"
#include "core/testing/parsed.h"
#include "eval/statistics/delong.h"
#include "eval/statistics/several_methods.h"
#include "eval/testing/golden.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

// 200 known and 200 unknown samples, the unknown ones `shift` standard deviations above.
testing::Samples NormalSamples(double shift, double noise) {
  RandomStream random(3, "paired");
  RandomStream extra(4, "noise");
  testing::Samples samples;
  for (int i = 0; i < 400; ++i) {
    samples.label.push_back(i % 2 == 0 ? 0 : kUnknownLabel);
    samples.prediction.push_back(0);
    samples.unknown_score.push_back(random.Normal() + shift * (i % 2) + noise * extra.Normal());
  }
  return samples;
}

absl::StatusOr<PairedDifference> Compare(const testing::Samples& a, const testing::Samples& b, int replicates,
                                         double confidence = 0.95) {
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  const RankedInput of_a(a.Input());
  const RankedInput of_b(b.Input());
  BootstrapOptions options;
  options.replicates = replicates;
  options.confidence = confidence;
  const absl::StatusOr<std::vector<MethodPair>> pairs = PairedBootstrap(metrics, {&of_a, &of_b}, options);
  if (!pairs.ok()) return pairs.status();
  return pairs->at(0).metrics.at(0);
}

TEST(PairedBootstrap, SeesADifferenceThatSharedSamplesCannotExplain) {
  const testing::Samples a = NormalSamples(1.5, 0.1);
  const testing::Samples b = NormalSamples(1.0, 0.1);
  const PairedDifference result = Compare(a, b, 500).value();
  EXPECT_NEAR(*result.difference.value, *result.value_a - *result.value_b, 1e-15);
  EXPECT_GT(result.difference.low, 0);
  EXPECT_EQ(result.verdict, Verdict::kALarger);
  // None of 500 replicates lies at or below 0: below the 2 / 501 of counting, and of the size of DeLong's.
  const double delong = DeLongPaired(RankedInput(a.Input()), RankedInput(b.Input()), PairStatistic::kAuroc)->p_value;
  EXPECT_LT(result.p_value, 2.0 / 501);
  EXPECT_NEAR(std::log10(result.p_value) / std::log10(delong), 1, 0.25);
  const PairedDifference reversed = Compare(b, a, 500).value();
  EXPECT_EQ(reversed.verdict, Verdict::kBLarger);
  EXPECT_NEAR(*reversed.difference.value, -*result.difference.value, 1e-15);
}

TEST(PairedBootstrap, FindsNoDifferenceBetweenAMethodAndItself) {
  const testing::Samples a = NormalSamples(1, 0);
  const PairedDifference result = Compare(a, a, 100).value();
  EXPECT_EQ(result.difference.value, 0);
  EXPECT_EQ(result.difference.low, 0);
  EXPECT_EQ(result.difference.high, 0);
  EXPECT_EQ(result.p_value, 1);
  EXPECT_EQ(result.verdict, Verdict::kNoDetectableDifference);
}

TEST(PairedBootstrap, IntervalAndPValueAgree) {
  int counted = 0;
  // With more noise, a shift of about 1.15 gives what 1 does without.
  for (const double shift : {1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.6}) {
    const PairedDifference at_95 = Compare(NormalSamples(shift, 0.8), NormalSamples(1.0, 0.5), 400).value();
    ASSERT_GT(at_95.p_value, 0);
    ASSERT_LT(at_95.p_value, 1);
    // The interval of confidence 1 - p ends at 0, as long as the tail was counted.
    if (at_95.p_value > 0.06) {
      const PairedDifference at_p =
          Compare(NormalSamples(shift, 0.8), NormalSamples(1.0, 0.5), 400, 1 - at_95.p_value).value();
      EXPECT_NEAR(std::min(std::abs(at_p.difference.low), std::abs(at_p.difference.high)), 0, 1e-9) << shift;
      ++counted;
    }
    EXPECT_EQ(at_95.p_value < 0.05, at_95.verdict != Verdict::kNoDetectableDifference) << shift;
  }
  EXPECT_GE(counted, 1);
}

// Eleven methods, each clearly better than the one before: Holm's p over the 55 pairs finds them all.
TEST(PairedBootstrap, HasPValuesSmallEnoughForManyPairs) {
  std::vector<testing::Samples> samples;
  for (int m = 0; m < 11; ++m) samples.push_back(NormalSamples(0.3 * m, 0.1));
  std::deque<RankedInput> ranked;
  std::vector<const RankedInput*> methods;
  for (const testing::Samples& one : samples) methods.push_back(&ranked.emplace_back(one.Input()));
  BootstrapOptions options;
  options.replicates = 500;
  const std::vector<MethodPair> pairs = PairedBootstrap({Parsed<MetricSpec>("auroc {}")}, methods, options).value();
  ASSERT_EQ(pairs.size(), 55);
  std::vector<double> p_values;
  for (const MethodPair& pair : pairs) p_values.push_back(pair.metrics[0].p_value);
  int detected = 0;
  for (const double p : HolmAdjusted(p_values)) detected += p < 0.05;
  EXPECT_EQ(detected, 55);
}

TEST(PairedBootstrap, RefusesOtherSamples) {
  const testing::Samples a = NormalSamples(1, 0);
  testing::Samples b = a;
  b.label[0] = kUnknownLabel;
  EXPECT_EQ(Compare(a, b, 100).status().code(), absl::StatusCode::kInvalidArgument);
  b = a;
  b.group.assign(400, 0);
  EXPECT_EQ(Compare(a, b, 100).status().code(), absl::StatusCode::kInvalidArgument);
  b = a;
  b.label.pop_back();
  b.prediction.pop_back();
  b.unknown_score.pop_back();
  EXPECT_EQ(Compare(a, b, 100).status().message(),
            "the methods must have the same samples: method 1 has 399, and method 0 has 400");
}

}  // namespace
}  // namespace openset
