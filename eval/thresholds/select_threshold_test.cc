#include "eval/thresholds/select_threshold.h"

#include <limits>
#include <vector>

#include "eval/metrics/threshold_metric.h"
#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// By score: correct 0.1, correct 0.2, unknown 0.3, wrong 0.4, correct 0.5, unknown 0.6, unknown 0.7.
testing::Samples SevenSamples() {
  testing::Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  samples.label = {0, 1, -1, 0, 1, -1, -1};
  samples.prediction = {0, 1, 0, 1, 1, 0, 1};
  return samples;
}

TEST(SelectThreshold, FollowsEachRule) {
  const testing::Samples samples = SevenSamples();
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
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kBestNaccRates, 0, validation), 0.2);  // (2/4 + 3/3) / 2
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kBestOpenSetFMicro, 0, validation),
            BestOverThresholds(OpenSetFMicro(), validation).threshold);
}

TEST(SelectThreshold, NeedsOnlyWhatItsRuleReads) {
  testing::Samples known = SevenSamples();
  known.label = {0, 1, 0, 0, 1, 0, 1};
  EXPECT_EQ(*SelectThreshold(ThresholdRule::kKnownAccepted, 1, RankedInput(known.Input())), 0.7);
  absl::Status status = SelectThreshold(ThresholdRule::kBestNaccRates, 0, RankedInput(known.Input())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("needs unknown validation samples"));
  known.label.assign(7, -1);
  status = SelectThreshold(ThresholdRule::kKnownAccepted, 0.5, RankedInput(known.Input())).status();
  EXPECT_THAT(status.message(), HasSubstr("needs known validation samples"));
  status = SelectThreshold(ThresholdRule::kRiskAtMost, 0.5, RankedInput(known.Input())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("no threshold has a risk of at most 0.5"));
  status = SelectThreshold(ThresholdRule::kUnknownRejected, 1.5, RankedInput(known.Input())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(DescribeThreshold, CountsWhatItDoesOnOtherSamples) {
  const testing::Samples samples = SevenSamples();
  const RankedInput test(samples.Input());
  ThresholdReport report = DescribeThreshold(0.45, test);
  EXPECT_EQ(report.accepted, (Tally{2, 1, 1}));
  EXPECT_EQ(report.known_accepted, 3.0 / 4);
  EXPECT_EQ(report.correct_accepted, 2.0 / 4);
  EXPECT_EQ(report.unknown_rejected, 2.0 / 3);
  EXPECT_EQ(report.coverage, 4.0 / 7);
  EXPECT_EQ(report.risk, 2.0 / 4);
  EXPECT_NEAR(report.open_set_f_micro, 0.5, 1e-15);  // precision 2/4, recall 2/4
  EXPECT_NEAR(*report.nacc_rates, (2.0 / 4 + 2.0 / 3) / 2, 1e-15);
  report = DescribeThreshold(-std::numeric_limits<double>::infinity(), test);
  EXPECT_EQ(report.coverage, 0);
  EXPECT_FALSE(report.risk.has_value());
}

}  // namespace
}  // namespace openset
