#include "experiments/report/tidy.h"

#include "core/proto/text_proto.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(ParseTextProto(text, "message", &message).ok());
  return message;
}

TrialSpec Trial(const std::string& more) {
  return Parse<TrialSpec>(
      "task: 't' split: 1 seed: 7 openness: 0.25 method { name: 'm' } "
      "data { test_unknown { selection { class_id: [3, 4] } } } " +
      more);
}

TEST(TidyTable, HasARowATrialAndMetric) {
  const TrialSpec swept = Trial("axis { name: 'lambda' value: '0.1' } axis { name: 'value' value: '2' }");
  const TrialSpec plain = Trial("");
  const auto record = Parse<TrialRecord>(
      "trial_id: 'id' outputs_key: 'o' checkpoint_key: 'c' "
      "metric { name: 'auroc' value: 0.75 unit: 'share' higher_is_better: true group { kind: POOL } "
      "         interval { low: 0.5 high: 1 } } "
      "metric { name: 'ece' absent_reason: 'no logits' unit: 'share' higher_is_better: false group { kind: POOL } }");
  const Table table = TidyTable({{&swept, &record}, {&plain, nullptr}, {&plain, &record}});
  EXPECT_THAT(table.header, ElementsAre("trial", "method", "task", "split", "seed", "unknown_classes", "openness",
                                        "lambda", "axis_value", "group", "metric", "value", "unit", "better", "low",
                                        "high", "outputs", "checkpoint"));
  ASSERT_EQ(table.rows.size(), 4);
  EXPECT_THAT(table.rows[0], ElementsAre("id", "m", "t", "1", "7", "2", "0.25", "0.1", "2", "pool", "auroc", "0.75",
                                         "share", "higher", "0.5", "1", "o", "c"));
  EXPECT_THAT(table.rows[1], ElementsAre("id", "m", "t", "1", "7", "2", "0.25", "0.1", "2", "pool", "ece", "", "share",
                                         "lower", "", "", "o", "c"));
  EXPECT_EQ(table.rows[2][7], "");
}

}  // namespace
}  // namespace openset
