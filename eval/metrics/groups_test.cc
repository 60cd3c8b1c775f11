#include "eval/metrics/groups.h"

#include "core/testing/parsed.h"
#include "eval/metrics/detection/auroc.h"
#include "eval/testing/golden.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// Two known samples at 0.4 and 0.6; groups 0 = {0.5}, 1 = {0.7, 0.9}, 2 = {0.1}.
testing::Samples SixSamples() {
  testing::Samples samples;
  samples.label = {0, 0, -1, -1, -1, -1};
  samples.prediction = {0, 0, 0, 0, 0, 0};
  samples.unknown_score = {0.4, 0.6, 0.5, 0.7, 0.9, 0.1};
  samples.group = {0, 0, 0, 1, 1, 2};
  return samples;
}

std::vector<MetricSpec> AurocOnly() { return {Parsed<MetricSpec>("auroc {}")}; }

TEST(EvaluateGroups, GivesEachGroupTheirMeansAndThePool) {
  const testing::Samples samples = SixSamples();
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
  const testing::Samples samples = SixSamples();
  const GroupedValues values = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()),
                                              {{"a"}, {"b"}, {"c", Distance::kFar}, {"empty", Distance::kFar}})
                                   .value();
  ASSERT_EQ(values.means.size(), 1);
  EXPECT_EQ(values.means[0].name, "far");
  EXPECT_FALSE(values.means[0].values[0].value.has_value());
  EXPECT_EQ(values.means[0].values[0].absent_reason, "no unknown samples");
}

TEST(EvaluateGroups, RefusesGroupsThatDoNotFit) {
  testing::Samples samples = SixSamples();
  absl::Status status = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()), {{"a"}, {"b"}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("have group 2; only 2 groups are named"));
  samples.group.clear();
  status = EvaluateGroups(AurocOnly(), RankedInput(samples.Input()), {{"a"}}).status();
  EXPECT_EQ(status.message(), "the samples have no groups");
}

TEST(EvaluateKnownSets, MeasuresEachAgainstAllUnknownSamples) {
  testing::Samples samples;
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
