#include "experiments/report/exports.h"

#include <cstdint>

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/report/tensorboard_event.pb.h"
#include "experiments/spec/method.pb.h"

namespace openset {
namespace {

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

// The events of a file; dies if a length is wrong.
std::vector<TensorBoardEvent> Read(const std::string& bytes) {
  std::vector<TensorBoardEvent> events;
  for (size_t at = 0; at < bytes.size();) {
    size_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(bytes.at(at + i));
    EXPECT_TRUE(events.emplace_back().ParseFromString(bytes.substr(at + 12, length)));
    at += 12 + length + 4;
  }
  return events;
}

TEST(TensorBoardFiles, HoldsCurvesAndMetrics) {
  const TrialSpec trial =
      Parsed<TrialSpec>("task: 't' method { name: 'm/n' } split: 1 axis { name: 'lambda' value: '0.1' }");
  const TrialRecord record = Parsed<TrialRecord>(
      "trial_id: 'id' metric { name: 'auroc' value: 0.75 group { kind: POOL } } "
      "metric { name: 'auroc' value: 0.5 group { kind: SET set: 'svhn' } } "
      "metric { name: 'aurc' absent_reason: 'none' group { kind: POOL } } "
      "epoch { epoch: 0 loss: 2 train_accuracy: 0.25 } "
      "epoch { epoch: 1 loss: 1 metric { name: 'auroc' value: 0.625 group { kind: POOL } } } "
      "provenance { stage { stage: TRAIN started_at_seconds: 100 wall_seconds: 20 } }");
  const auto files = TensorBoardFiles({{&trial, &record}, {&trial, nullptr}});
  ASSERT_EQ(files.size(), 1);
  EXPECT_EQ(files[0].first, "t/m_n, lambda 0.1/split 1, seed 0/events.out.tfevents.0.id");
  const std::vector<TensorBoardEvent> events = Read(files[0].second);
  ASSERT_EQ(events.size(), 4);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].summary().value(0).tag(), "training/objective");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 2);
  EXPECT_EQ(events[1].wall_time(), 110);
  EXPECT_EQ(events[2].step(), 1);
  EXPECT_EQ(events[2].summary().value(3).tag(), "auroc");
  EXPECT_EQ(events[2].summary().value(3).simple_value(), 0.625);
  EXPECT_EQ(events[3].step(), 2);
  ASSERT_EQ(events[3].summary().value_size(), 2);
  EXPECT_EQ(events[3].summary().value(0).tag(), "test/auroc");
  EXPECT_EQ(events[3].summary().value(1).tag(), "test/svhn/auroc");
}

}  // namespace
}  // namespace openset
