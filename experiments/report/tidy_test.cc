#include "experiments/report/tidy.h"

#include "core/testing/parsed.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

TrialSpec Trial(const std::string& more) {
  return Parsed<TrialSpec>(
      "task: 't' split: 1 seed: 7 openness: 0.25 method { name: 'm' } "
      "data { test_known { class_id: [0, 1, 2] } test_unknown { selection { class_id: [3, 4] } } } " +
      more);
}

TEST(TidyTable, HasARowATrialAndMetric) {
  const TrialSpec swept = Trial("axis { name: 'lambda' value: '0.1' } axis { name: 'value' value: '2' }");
  const TrialSpec plain = Trial("");
  const auto record = Parsed<TrialRecord>(
      "trial_id: 'id' outputs_key: 'o' checkpoint_key: 'c' "
      "counts { known: 6 unknown: 8 group { name: 'near' samples: 2 } group { name: 'far' samples: 6 } } "
      "metric { name: 'auroc' value: 0.75 unit: 'share' higher_is_better: true group { kind: POOL } "
      "         interval { low: 0.5 high: 1 } } "
      "metric { name: 'ece' absent_reason: 'no logits' unit: 'share' higher_is_better: false group { kind: POOL } }");
  const Table table = TidyTable({{&swept, &record}, {&plain, nullptr}, {&plain, &record}});
  EXPECT_THAT(table.header,
              ElementsAre("trial", "method", "task", "split", "seed", "known_classes", "unknown_classes", "openness",
                          "lambda", "axis_value", "group", "known_samples", "unknown_samples", "known_per_unknown",
                          "metric", "value", "unit", "better", "low", "high", "outputs", "checkpoint", "overrides"));
  ASSERT_EQ(table.rows.size(), 4);
  EXPECT_THAT(table.rows[0], ElementsAre("id", "m", "t", "1", "7", "3", "2", "0.25", "0.1", "2", "pool", "6", "8",
                                         "0.75", "auroc", "0.75", "share", "higher", "0.5", "1", "o", "c", ""));
  EXPECT_THAT(table.rows[1], ElementsAre("id", "m", "t", "1", "7", "3", "2", "0.25", "0.1", "2", "pool", "6", "8",
                                         "0.75", "ece", "", "share", "lower", "", "", "o", "c", ""));
  EXPECT_EQ(table.rows[2][8], "");
}

// Counts the samples of the row's set. Means over sets, and records without counts, have no numbers.
TEST(TidyTable, CountsTheSamplesOfEachGroup) {
  const TrialSpec trial = Trial("");
  const std::string metrics =
      "metric { name: 'auroc' value: 1 group { kind: SET set: 'near' } } metric { name: 'auroc' value: 1 group { kind: "
      "NEAR_MEAN } }";
  const auto counted =
      Parsed<TrialRecord>("counts { known: 6 unknown: 8 group { name: 'near' samples: 2 } } " + metrics);
  const auto uncounted = Parsed<TrialRecord>(metrics);
  const Table table = TidyTable({{&trial, &counted}, {&trial, &uncounted}});
  const auto samples = [&](int row) {
    return std::vector<std::string>(table.rows[row].begin() + 8, table.rows[row].begin() + 12);
  };
  EXPECT_THAT(samples(0), ElementsAre("near", "6", "2", "3"));
  EXPECT_THAT(samples(1), ElementsAre("mean of near", "6", "", ""));
  EXPECT_THAT(samples(2), ElementsAre("near", "", "", ""));
}

}  // namespace
}  // namespace openset
