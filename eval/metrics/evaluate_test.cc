#include "eval/metrics/evaluate.h"

#include "core/proto/traits.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/conventions.h"
#include "eval/testing/golden.h"

namespace openset {
namespace {

Samples KnownSamples() {
  Samples samples;
  samples.num_classes = 2;
  samples.unknown_score = {0.2, 0.7};
  samples.label = {0, 1};
  samples.prediction = {0, 0};
  return samples;
}

TEST(Evaluate, ReturnsValuesAndReasonsByName) {
  const Samples samples = KnownSamples();
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
  for (const GoldenCase& golden : ReadGolden("unknown_detection.json", "detection")) {
    Samples samples = DetectionSamples(golden);
    const std::vector<MetricValue> with = Evaluate(metrics, samples.Input()).value();
    samples.prediction.clear();
    const std::vector<MetricValue> without = Evaluate(metrics, samples.Input()).value();
    there = 0;
    for (size_t m = 0; m < metrics.size(); ++m) {
      if (TraitsOf(metrics[m]).predictions()) {
        EXPECT_FALSE(without[m].value.has_value()) << without[m].name;
        EXPECT_EQ(without[m].absent_reason, "no predictions") << without[m].name;
      } else {
        EXPECT_EQ(without[m].value, with[m].value) << without[m].name;
        EXPECT_EQ(without[m].absent_reason, with[m].absent_reason) << without[m].name;
        there += without[m].value.has_value();
      }
    }
  }
  // auroc, aupr_unknown ... Metrics of softmax(logits) need no prediction, but are absent without logits.
  EXPECT_GT(there, 0);
}

TEST(Evaluate, WithoutPredictionsByHand) {
  // Of 2 x 2 pairs the known sample is below in 3: 3/4. With 95 % of the unknown samples above the threshold that is
  // both of them, at 0.2: the known sample at 0.5 is rejected as well, 1/2.
  Samples samples;
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
  Samples samples = KnownSamples();
  samples.label = {0, -1};
  std::vector<MetricSpec> metrics(2);
  metrics[0].mutable_partial_openauc();
  metrics[1].mutable_partial_openauc()->set_max_ofpr(0.05);
  EXPECT_FALSE(Evaluate(metrics, samples.Input()).ok());
  metrics[1].set_name("partial_openauc_05");
  EXPECT_EQ(Evaluate(metrics, samples.Input()).value()[1].name, "partial_openauc_05");
}

TEST(Evaluate, RefusesMissingAndRepeatedMetrics) {
  const Samples samples = KnownSamples();
  absl::Status status = Evaluate({MetricSpec()}, samples.Input()).status();
  EXPECT_THAT(status, IsInvalidArgument("metric[0] must have one of: accuracy"));
  MetricSpec auroc;
  auroc.mutable_auroc();
  status = Evaluate({auroc, auroc}, samples.Input()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "metric[1]: there is another metric named 'auroc'; where they differ in their settings, give one a name");
}

TEST(Evaluate, RefusesHalfAGrid) {
  const Samples samples = KnownSamples();
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

// Two known samples at 0.4 and 0.6; groups 0 = {0.5}, 1 = {0.7, 0.9}, 2 = {0.1}.
Samples SixSamples() {
  Samples samples;
  samples.label = {0, 0, -1, -1, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0, 0};
  samples.unknown_score = {0.4, 0.6, 0.5, 0.7, 0.9, 0.1};
  samples.group = {0, 0, 0, 1, 1, 2};
  return samples;
}

std::vector<MetricSpec> AurocOnly() { return {Parsed<MetricSpec>("auroc {}")}; }

TEST(EvaluateGroups, GivesEachGroupTheirMeansAndThePool) {
  const Samples samples = SixSamples();
  const GroupedValues values =
      EvaluateGroups(AurocOnly(), RankedInput(samples.Input()),
                     {{"cats", Distance::kNear}, {"noise", Distance::kFar}, {"digits", Distance::kFar}})
          .value();
  ASSERT_EQ(values.groups.size(), 3);
  EXPECT_EQ(values.groups[0].name, "cats");
  EXPECT_EQ(values.groups[0].unknown_samples, 1);
  EXPECT_EQ(values.groups[0].values[0].value, 0.5);
  EXPECT_EQ(values.groups[1].unknown_samples, 2);
  EXPECT_EQ(values.groups[1].values[0].value, 1);
  EXPECT_EQ(values.groups[2].values[0].value, 0);
  ASSERT_EQ(values.means.size(), 2);
  EXPECT_EQ(values.means[0].name, "near");
  EXPECT_EQ(values.means[0].values[0].value, 0.5);
  EXPECT_EQ(values.means[1].name, "far");
  EXPECT_EQ(values.means[1].unknown_samples, 3);
  EXPECT_EQ(values.means[1].values[0].value, (1 + 0) / 2.0);
  EXPECT_EQ(values.pool.unknown_samples, 4);
  EXPECT_EQ(values.pool.values[0].value, (1 + 2 + 2 + 0) / 8.0);
}

TEST(EvaluateGroups, LeavesOutMeansWithoutGroupsAndThoseOfAbsentValues) {
  const Samples samples = SixSamples();
  const GroupedValues values = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()),
                                              {{"a"}, {"b"}, {"c", Distance::kFar}, {"empty", Distance::kFar}})
                                   .value();
  ASSERT_EQ(values.means.size(), 1);
  EXPECT_EQ(values.means[0].name, "far");
  EXPECT_FALSE(values.means[0].values[0].value.has_value());
  EXPECT_EQ(values.means[0].values[0].absent_reason, "no unknown samples");
}

TEST(EvaluateGroups, RefusesGroupsThatDoNotFit) {
  Samples samples = SixSamples();
  absl::Status status = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()), {{"a"}, {"b"}}).status();
  EXPECT_THAT(status, IsInvalidArgument("have group 2; only 2 groups are named"));
  samples.group.clear();
  status = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()), {{"a"}}).status();
  EXPECT_EQ(status.message(), "the samples have no groups");
}

TEST(EvaluateKnownSets, MeasuresEachAgainstAllUnknownSamples) {
  Samples samples;
  samples.unknown_score = {1, 2, 3, 4, 2.5, 5};
  samples.label = {0, 0, 0, 0, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0, 0};
  std::vector<MetricSpec> metrics(1);
  metrics[0].mutable_auroc();
  const RankedInput ranked(samples.Input());
  const std::vector<GroupValues> sets =
      EvaluateKnownSets(metrics, ranked, {0, 0, 1, -1, -1, -1}, {"plain", "shifted"}).value();
  ASSERT_EQ(sets.size(), 2);
  EXPECT_EQ(sets[0].name, "plain");
  EXPECT_EQ(sets[0].known_samples, 2);
  EXPECT_EQ(sets[0].unknown_samples, 2);
  EXPECT_EQ(sets[0].values[0].value, 1);        // 1, 2 below 2.5, 5
  EXPECT_EQ(sets[1].values[0].value, 1.0 / 2);  // 3 below 5 only
  EXPECT_FALSE(EvaluateKnownSets(metrics, ranked, {0}, {"plain"}).ok());
  EXPECT_FALSE(EvaluateKnownSets(metrics, ranked, {0, 0, 1, 0, 0, 0}, {"plain"}).ok());
}

}  // namespace
}  // namespace openset
