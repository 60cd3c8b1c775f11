#include "eval/statistics/paired_bootstrap.h"

#include "core/random.h"
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

std::vector<MetricSpec> AurocOnly() {
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  return metrics;
}

TEST(PairedBootstrap, SeesADifferenceThatSharedSamplesCannotExplain) {
  const testing::Samples a = NormalSamples(1.5, 0.1);
  const testing::Samples b = NormalSamples(1.0, 0.1);
  const PairedDifference result =
      PairedBootstrap(AurocOnly(), RankedInput(a.Input()), RankedInput(b.Input()), {500})->at(0);
  EXPECT_NEAR(*result.difference.value, *result.value_a - *result.value_b, 1e-15);
  EXPECT_GT(result.difference.low, 0);
  EXPECT_EQ(result.verdict, Verdict::kALarger);
  EXPECT_NEAR(result.p_value, 2.0 / 501, 1e-15);  // none of 500 replicates at or below 0
  const PairedDifference reversed =
      PairedBootstrap(AurocOnly(), RankedInput(b.Input()), RankedInput(a.Input()), {500})->at(0);
  EXPECT_EQ(reversed.verdict, Verdict::kBLarger);
  EXPECT_NEAR(*reversed.difference.value, -*result.difference.value, 1e-15);
}

TEST(PairedBootstrap, FindsNoneBetweenAMethodAndItself) {
  const testing::Samples a = NormalSamples(1, 0);
  const PairedDifference result =
      PairedBootstrap(AurocOnly(), RankedInput(a.Input()), RankedInput(a.Input()), {100})->at(0);
  EXPECT_EQ(result.difference.value, 0);
  EXPECT_EQ(result.difference.low, 0);
  EXPECT_EQ(result.difference.high, 0);
  EXPECT_EQ(result.p_value, 1);
  EXPECT_EQ(result.verdict, Verdict::kNoDetectableDifference);
}

TEST(PairedBootstrap, RefusesOtherSamples) {
  const testing::Samples a = NormalSamples(1, 0);
  testing::Samples b = a;
  b.label[0] = kUnknownLabel;
  EXPECT_EQ(PairedBootstrap(AurocOnly(), RankedInput(a.Input()), RankedInput(b.Input()), {100}).status().code(),
            absl::StatusCode::kInvalidArgument);
  b = a;
  b.group.assign(400, 0);
  EXPECT_EQ(PairedBootstrap(AurocOnly(), RankedInput(a.Input()), RankedInput(b.Input()), {100}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace openset
