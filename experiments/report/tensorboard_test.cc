#include "experiments/report/tensorboard.h"

#include <cstdint>

#include "core/testing/parsed.h"
#include "experiments/report/tensorboard_event.pb.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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
