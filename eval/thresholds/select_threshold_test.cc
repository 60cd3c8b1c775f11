#include "eval/thresholds/select_threshold.h"

#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/threshold_metric.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

// By score: correct 0.1, correct 0.2, unknown 0.3, wrong 0.4, correct 0.5, unknown 0.6, unknown 0.7.
Samples SevenSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  samples.label = {0, 1, -1, 0, 1, -1, -1};
  samples.prediction = {0, 1, 0, 1, 1, 0, 1};
  return samples;
}

TEST(SelectThreshold, FollowsEachRule) {
  const Samples samples = SevenSamples();
  const RankedInput validation(samples.Input());
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 0.75, validation), 0.4);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 0.76, validation), 0.5);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kUnknownRejected, 2.0 / 3, validation), 0.5);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kUnknownRejected, 0.7, validation), 0.2);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kUnknownRejected, 0, validation), 0.7);
  // Risks: 0, 0, 1/3, 2/4, 2/5, 3/6, 4/7.
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kRiskAtMost, 0, validation), 0.2);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kRiskAtMost, 0.4, validation), 0.5);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kRiskAtMost, 0.5, validation), 0.6);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kBestNaccRates, 0, validation), 0.2);        // (2/4 + 3/3) / 2
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kBestOpenSetAccuracy, 0, validation), 0.2);  // 2 + 3 of 7
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kBestOpenSetFMicro, 0, validation),
            BestOverThresholds(OpenSetFMicro(), validation).threshold);
}

// Three copies of each of 20 samples, of which 15 are accepted, say hardly more than the 20: Clopper and Pearson's
// interval for 15 of 20 is 0.5090 to 0.9134, and for 45 of 60 0.6214 to 0.8528. Reference: Korn and Graubard's with
// scipy 1.17 (beta.ppf and t.isf).
TEST(DescribeThreshold, SamplesOfOneClusterAreNotIndependent) {
  Samples samples;
  samples.num_classes = 1;
  std::vector<int64_t> cluster;
  for (int i = 0; i < 60; ++i) {
    samples.unknown_score.push_back(i / 3 < 15 ? 0 : 1);
    samples.label.push_back(0);
    samples.prediction.push_back(0);
    cluster.push_back(i / 3);
  }
  const auto described = [&](const std::vector<int64_t>& clusters) {
    samples.cluster = clusters;
    return DescribeThreshold(0.5, RankedInput(samples.Input()));
  };
  const ThresholdReport together = described(cluster);
  EXPECT_EQ(together.clusters, 20);
  EXPECT_EQ(together.known_accepted->value, 0.75);
  EXPECT_NEAR(together.known_accepted->low, 0.4886967189688525, 1e-12);
  EXPECT_NEAR(together.known_accepted->high, 0.9222167890483531, 1e-12);
  EXPECT_EQ(together.coverage->low, together.known_accepted->low);
  EXPECT_NEAR(together.risk->high, 1 - std::pow(0.025, 1 / 15.0), 1e-12);  // 0 of 15 clusters with accepted samples
  for (int i = 0; i < 60; ++i) cluster[i] = i;
  const ThresholdReport apart = described(cluster);
  EXPECT_EQ(apart.clusters, 0);
  EXPECT_EQ(apart.known_accepted->low, described({}).known_accepted->low);
  EXPECT_NEAR(apart.known_accepted->low, 0.6214, 1e-4);
}

TEST(SelectThreshold, NeedsOnlyWhatItsRuleReads) {
  Samples known = SevenSamples();
  known.label = {0, 1, 0, 0, 1, 0, 1};
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 1, RankedInput(known.Input())), 0.7);
  absl::Status status = SelectThreshold(ThresholdRule::kBestNaccRates, 0, RankedInput(known.Input())).status();
  EXPECT_THAT(status, IsFailedPrecondition("needs unknown validation samples"));
  known.label.assign(7, -1);
  status = SelectThreshold(ThresholdRule::kKnownAccepted, 0.5, RankedInput(known.Input())).status();
  EXPECT_THAT(status.message(), HasSubstr("needs known validation samples"));
  status = SelectThreshold(ThresholdRule::kRiskAtMost, 0.5, RankedInput(known.Input())).status();
  EXPECT_THAT(status, IsFailedPrecondition("no threshold has a risk of at most 0.5"));
  status = SelectThreshold(ThresholdRule::kUnknownRejected, 1.5, RankedInput(known.Input())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(DescribeThreshold, CountsDecisionsOnOtherSamples) {
  const Samples samples = SevenSamples();
  const RankedInput test(samples.Input());
  ThresholdReport report = DescribeThreshold(0.45, test);
  EXPECT_EQ(report.accepted, (Tally{2, 1, 1}));
  EXPECT_EQ(report.known_accepted->value, 3.0 / 4);
  EXPECT_EQ(report.correct_accepted->value, 2.0 / 4);
  EXPECT_EQ(report.unknown_rejected->value, 2.0 / 3);
  EXPECT_EQ(report.coverage->value, 4.0 / 7);
  EXPECT_EQ(report.risk->value, 2.0 / 4);
  EXPECT_NEAR(*report.open_set_f_micro, 0.5, 1e-15);  // precision 2/4, recall 2/4
  EXPECT_NEAR(*report.nacc_rates, (2.0 / 4 + 2.0 / 3) / 2, 1e-15);
  report = DescribeThreshold(-std::numeric_limits<double>::infinity(), test);
  EXPECT_EQ(report.coverage->value, 0);
  EXPECT_NEAR(report.coverage->high, 1 - std::pow(0.025, 1.0 / 7), 1e-12);  // Clopper-Pearson
  EXPECT_FALSE(report.risk.has_value());
}

TEST(SelectThreshold, WithoutPredictions) {
  Samples samples = SevenSamples();
  samples.prediction.clear();
  const RankedInput validation(samples.Input());
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 0.75, validation), 0.4);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kUnknownRejected, 2.0 / 3, validation), 0.5);
  EXPECT_THAT(SelectThreshold(ThresholdRule::kRiskAtMost, 0.5, validation).status(),
              IsFailedPrecondition("the rule needs predictions"));
  const ThresholdReport report = DescribeThreshold(0.45, validation);
  EXPECT_EQ(report.known_accepted->value, 3.0 / 4);
  EXPECT_EQ(report.unknown_rejected->value, 2.0 / 3);
  EXPECT_EQ(report.coverage->value, 4.0 / 7);
  EXPECT_FALSE(report.correct_accepted.has_value());
  EXPECT_FALSE(report.risk.has_value());
  EXPECT_FALSE(report.open_set_f_macro.has_value());
  EXPECT_FALSE(report.nacc_rates.has_value());
}

// n known samples of scores 1 .. n.
Samples Known(int n) {
  Samples samples;
  for (int i = 1; i <= n; ++i) samples.unknown_score.push_back(i);
  samples.label.assign(n, 0);
  samples.prediction.assign(n, 0);
  return samples;
}

TEST(SelectThreshold, ConformalCountsTheNextSampleIn) {
  const Samples twenty = Known(20);
  const RankedInput validation(twenty.Input());
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 0.9, validation), 18);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kConformal, 0.9, validation), 19);  // ceil(21 * 0.9)
  const Samples nineteen = Known(19);
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kConformal, 0.95, RankedInput(nineteen.Input())), 19);
  const Samples few = Known(18);
  const absl::Status status = SelectThreshold(ThresholdRule::kConformal, 0.95, RankedInput(few.Input())).status();
  EXPECT_THAT(status, IsFailedPrecondition("at least 19"));
  EXPECT_THAT(SelectThreshold(ThresholdRule::kConformal, 1, RankedInput(few.Input())).status(),
              IsFailedPrecondition("give a target below 1"));
}

// The k-th smallest of 20 uniform scores accepts k / 21 of new ones on average, with a standard deviation of 0.064 (k =
// 19) or 0.075 (k = 18) a draw: over 4000 draws a mean is off by 5 of its standard deviations with probability 6e-7.
TEST(SelectThreshold, ConformalAcceptsTheShareItPromises) {
  double conformal = 0, plain = 0;
  constexpr int kDraws = 4000;
  for (int draw = 0; draw < kDraws; ++draw) {
    RandomStream random(7, absl::StrCat("conformal/", draw));
    Samples samples = Known(20);
    for (double& score : samples.unknown_score) score = random.Uniform();
    const RankedInput validation(samples.Input());
    conformal += *SelectThreshold(ThresholdRule::kConformal, 0.9, validation) / kDraws;  // of U(0, 1): the share itself
    plain += *SelectThreshold(ThresholdRule::kKnownAccepted, 0.9, validation) / kDraws;
  }
  EXPECT_NEAR(conformal, 19.0 / 21, 5 * 0.064 / std::sqrt(kDraws));
  EXPECT_NEAR(plain, 18.0 / 21, 5 * 0.075 / std::sqrt(kDraws));  // below 0.9
}

// A sample is an error with probability score^2 / 2; the risk up to threshold t is t^2 / 6. A promise of risk 0.1 with
// delta 0.1 fails in at most 10 % of the draws; of 400, 60 or more with probability below 0.1 %.
TEST(SelectThreshold, GuaranteedRiskHoldsAsOftenAsPromised) {
  int broken = 0, found = 0, plain_broken = 0;
  for (int draw = 0; draw < 400; ++draw) {
    RandomStream random(8, absl::StrCat("risk/", draw));
    Samples samples = Known(500);
    samples.num_classes = 2;
    for (int i = 0; i < 500; ++i) {
      const double score = random.Uniform();
      samples.unknown_score[i] = score;
      samples.prediction[i] = random.Uniform() < score * score / 2 ? 1 : 0;
    }
    const RankedInput validation(samples.Input());
    const double plain = *SelectThreshold(ThresholdRule::kRiskAtMost, 0.1, validation);
    plain_broken += plain * plain / 6 > 0.1;
    const absl::StatusOr<double> threshold = SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.1, validation, 0.1);
    if (!threshold.ok()) continue;
    ++found;
    broken += *threshold * *threshold / 6 > 0.1;
  }
  EXPECT_GT(found, 390);
  EXPECT_LT(broken, 60);
  EXPECT_GT(plain_broken, 100);  // the empirical risk promises nothing
}

// 100 correct samples of score 0 and 1000 unknown ones of score 1: the bound of the 100, 1 - (0.05 / 20)^(1 / 100) =
// 0.058, holds for thresholds below 1. At 1, the risk is 1000 / 1100.
TEST(SelectThreshold, GuaranteedRiskIsOfTheSamplesThatItAccepts) {
  Samples samples = Known(1100);
  for (int i = 0; i < 1100; ++i) {
    samples.unknown_score[i] = i < 100 ? 0 : 1;
    samples.label[i] = i < 100 ? 0 : -1;
  }
  const RankedInput validation(samples.Input());
  const double threshold = *SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.1, validation, 0.05);
  EXPECT_EQ(threshold, std::nextafter(1.0, 0.0));
  EXPECT_EQ(DescribeThreshold(threshold, validation).accepted, (Tally{100, 0, 0}));
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.059, validation, 0.05), threshold);
  // The bound is 0.05816, and the error says a risk that can be asked for.
  EXPECT_THAT(SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.058, validation, 0.05).status().message(),
              HasSubstr("; the smallest risk that these 1100 samples can guarantee is 0.0582: give more"));
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.0582, validation, 0.05), threshold);
}

// The samples of the test above, 2000 a draw, with scores rounded down to multiples of 1/8. The risk of scores below
// k / 8 is (k / 8)^2 / 6: 0.094 below 6/8, but 0.128 up to 6/8. A promise of 0.12 with delta 0.1 fails in at most 10 %
// of the draws; of 200, 38 or more with probability below 0.1 %.
TEST(SelectThreshold, GuaranteedRiskHoldsWithTies) {
  int broken = 0, found = 0;
  for (int draw = 0; draw < 200; ++draw) {
    RandomStream random(9, absl::StrCat("tied risk/", draw));
    Samples samples = Known(2000);
    samples.num_classes = 2;
    for (int i = 0; i < 2000; ++i) {
      const double score = random.Uniform();
      samples.unknown_score[i] = std::floor(8 * score) / 8;
      samples.prediction[i] = random.Uniform() < score * score / 2 ? 1 : 0;
    }
    const absl::StatusOr<double> threshold =
        SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.12, RankedInput(samples.Input()), 0.1);
    if (!threshold.ok()) continue;
    ++found;
    const double accepted_below = (std::floor(8 * *threshold) + 1) / 8;
    broken += accepted_below * accepted_below / 6 > 0.12;
  }
  EXPECT_EQ(found, 200);
  EXPECT_LT(broken, 38);
}

TEST(SelectThreshold, GuaranteedRiskRefuses) {
  const Samples few = Known(5);
  const RankedInput validation(few.Input());
  const absl::Status status = SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.1, validation).status();
  EXPECT_THAT(status, IsFailedPrecondition("can guarantee"));
  EXPECT_THAT(status.message(), HasSubstr("give more validation samples"));
  EXPECT_EQ(SelectThreshold(ThresholdRule::kRiskGuaranteed, 0.1, validation, 0).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(WarningOf, WarnsIfRejectingGainsNothing) {
  const Samples known = Known(5);
  const Samples both = SevenSamples();
  EXPECT_THAT(WarningOf(ThresholdRule::kBestYoudenMacro, RankedInput(known.Input())), HasSubstr("known_accepted"));
  EXPECT_EQ(WarningOf(ThresholdRule::kBestYoudenMacro, RankedInput(both.Input())), "");
  EXPECT_EQ(WarningOf(ThresholdRule::kKnownAccepted, RankedInput(known.Input())), "");
}

}  // namespace
}  // namespace openset
