#include "eval/metrics/evaluate.h"

#include <vector>

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

TEST(Evaluate, GivesValuesAndReasonsByName) {
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

TEST(Evaluate, RefusesMetricsThatAreNoneOrTwice) {
  const testing::Samples samples = KnownSamples();
  absl::Status status = Evaluate({MetricSpec()}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("metric[0] must have one of: accuracy"));
  MetricSpec auroc;
  auroc.mutable_auroc();
  status = Evaluate({auroc, auroc}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "metric[1]: there is another metric named 'auroc'");
}

}  // namespace
}  // namespace openset
