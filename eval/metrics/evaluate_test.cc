#include "eval/metrics/evaluate.h"

#include <vector>

#include "eval/metrics/conventions.h"
#include "eval/metrics/metric_table.h"
#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

testing::Samples KnownSamples() {
  testing::Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.2, 0.7};
  samples.label = {0, 1};
  samples.prediction = {0, 0};
  return samples;
}

TEST(Evaluate, ReturnsValuesAndReasonsByName) {
  const testing::Samples samples = KnownSamples();
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_openauc();
  metrics[1].mutable_accuracy();
  const std::vector<MetricValue> values = Evaluate(metrics, samples.Input()).value();
  ASSERT_EQ(values.size(), 2);
  EXPECT_EQ(values[0].name, "openauc");
  EXPECT_FALSE(values[0].value.has_value());
  EXPECT_EQ(values[0].absent_reason, "no unknown samples");
  EXPECT_EQ(values[1].name, "accuracy");
  EXPECT_EQ(values[1].value, 0.5);
  EXPECT_EQ(values[1].absent_reason, "");
}

// A metric that needs no prediction has the same bits with and without; any other is absent.
TEST(Evaluate, WithoutPredictions) {
  const std::vector<MetricSpec> metrics = AllMetrics();
  int there = 0;
  for (const testing::GoldenCase& golden : testing::ReadGolden("unknown_detection.json", "detection")) {
    testing::Samples samples = testing::DetectionSamples(golden);
    const std::vector<MetricValue> with = Evaluate(metrics, samples.Input()).value();
    samples.prediction.clear();
    const std::vector<MetricValue> without = Evaluate(metrics, samples.Input()).value();
    there = 0;
    for (size_t m = 0; m < metrics.size(); ++m) {
      if (RowOf(metrics[m].kind_case()).traits.needs_prediction) {
        EXPECT_FALSE(without[m].value.has_value()) << without[m].name;
        EXPECT_EQ(without[m].absent_reason, "no predictions") << without[m].name;
      } else {
        EXPECT_EQ(without[m].value, with[m].value) << without[m].name;
        EXPECT_EQ(without[m].absent_reason, with[m].absent_reason) << without[m].name;
        there += without[m].value.has_value();
      }
    }
  }
  // auroc, two AUPR, three FPR, error_at_95tpr, detection_error, outer and known_unknown_ratio. Metrics of
  // softmax(logits) need no prediction, but are absent without logits.
  EXPECT_EQ(there, 10);
}

TEST(Evaluate, WithoutPredictionsByHand) {
  // Of 2 x 2 pairs the known sample is below in 3: 3/4. With 95 % of the unknown samples above the threshold that is
  // both of them, at 0.2: the known sample at 0.5 is rejected as well, 1/2.
  testing::Samples samples;
  samples.unknown_score = {0.1, 0.5, 0.2, 0.9};
  samples.label = {0, 0, -1, -1};
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_auroc();
  metrics[1].mutable_fpr_at_95tpr_unknown_positive();
  const std::vector<MetricValue> values = Evaluate(metrics, samples.Input()).value();
  EXPECT_EQ(values[0].value, 0.75);
  EXPECT_EQ(values[1].value, 0.5);
}

TEST(Evaluate, TakesTwoMetricsOfOneKindByTheirNames) {
  testing::Samples samples = KnownSamples();
  samples.label = {0, -1};
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_partial_openauc();
  metrics[1].mutable_partial_openauc()->set_max_ofpr(0.05);
  EXPECT_FALSE(Evaluate(metrics, samples.Input()).ok());
  metrics[1].set_name("partial_openauc_05");
  EXPECT_EQ(Evaluate(metrics, samples.Input()).value()[1].name, "partial_openauc_05");
}

TEST(Evaluate, RefusesMissingAndRepeatedMetrics) {
  const testing::Samples samples = KnownSamples();
  absl::Status status = Evaluate({MetricSpec()}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("metric[0] must have one of: accuracy"));
  MetricSpec auroc;
  auroc.mutable_auroc();
  status = Evaluate({auroc, auroc}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "metric[1]: there is another metric named 'auroc'; where they differ in their settings, give one a name");
}

TEST(Evaluate, RefusesHalfAGrid) {
  const testing::Samples samples = KnownSamples();
  MetricSpec metric;
  metric.mutable_fpr_at_95tpr()->set_rule(FprAtTprSpec::GRID_MEAN);
  EXPECT_EQ(ContradictionOf(metric), "");
  metric.mutable_fpr_at_95tpr()->set_grid_low(0.5);
  const absl::Status status = Evaluate({metric}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "metric[0]: fpr_at_95tpr has only one of grid_low and grid_high; set both or neither");
  metric.mutable_fpr_at_95tpr()->set_grid_high(0.5);
  EXPECT_THAT(Evaluate({metric}, samples.Input()).status().message(),
              HasSubstr("grid_low must be below grid_high (0.5 and 0.5)"));
  metric.mutable_fpr_at_95tpr()->set_grid_high(1);
  EXPECT_EQ(ContradictionOf(metric), "");
  metric.mutable_fpr_at_95tpr_unknown_positive()->set_grid_high(1);
  EXPECT_NE(ContradictionOf(metric), "");
}

}  // namespace
}  // namespace openset
