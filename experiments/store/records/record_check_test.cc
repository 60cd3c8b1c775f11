#include "experiments/store/records/record_check.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/proto/proto_rules.h"
#include "core/testing/mutation.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;

// A record with all fields that are checked.
TrialRecord Example() {
  TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  record.MergeFrom(Parsed<TrialRecord>(R"(
      trial { data { test_known { data_set: "digits" class_id: [3, 5] } } }
      counts { known: 6 unknown: 4 }
      epoch { epoch: 0 loss: 2 term: 1 term: 1 train_accuracy: 0.5 metric { name: "openauc" value: 0.25 } }
      ignored_tensor: "fc.weight"
      details {
        curve { kind: ROC set: "s" x: [0, 0.5, 0.5, 1] y: [0, 0, 1, 1] }
        density { low: -1 high: 2 series { kind: KNOWN_RIGHT count: [1, 2] } series { kind: UNKNOWN set: "s" count: [0, 4] below: 0 above: 1 } }
        decisions { rule: "r" threshold: inf known { class_id: 3 samples: 4 right: 3 rejected: 2 right_rejected: 2 }
          known { class_id: 5 samples: 2 } unknown { class_id: 7 set: "s" samples: 4 rejected: 1 }
          confusion { actual: -1 predicted: 1 samples: 3 } confusion { actual: 1 predicted: 0 samples: 2 } }
        mistake { kind: WRONG_CLASS row: 9 unknown_score: -inf class_id: 3 set: "s" predicted_label: 1 } })"));
  // Sets every field of a stage.
  StageProvenance* stage = record.mutable_provenance()->mutable_stage(0);
  stage->add_component()->set_family("ScoreSpec");
  stage->mutable_component(0)->set_name("energy");
  stage->mutable_component(0)->set_fingerprint("f");
  for (int f = 0; f < StageProvenance::descriptor()->field_count(); ++f) {
    const FieldDescriptor* field = StageProvenance::descriptor()->field(f);
    const auto& reflection = *stage->GetReflection();
    if (field->is_repeated()) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) reflection.AddString(stage, field, "text");
    } else if (!reflection.HasField(*stage, field)) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) reflection.SetString(stage, field, "text");
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) reflection.SetDouble(stage, field, 1.5);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32) reflection.SetInt32(stage, field, 1);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) reflection.SetInt64(stage, field, 1);
    }
  }
  return record;
}

std::string Problem(const TrialRecord& record) {
  const absl::Status status = CheckRecord(record);
  EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  return std::string(status.message());
}

// Checks the example with these fields overridden; repeated fields are cleared first.
std::string ProblemWith(const std::string& text) {
  TrialRecord record = Example();
  const TrialRecord over = Parsed<TrialRecord>(text);
  if (over.metric_size() > 0) record.clear_metric();
  TrialDetails* details = record.mutable_details();
  if (over.details().curve_size() > 0) details->clear_curve();
  if (over.details().mistake_size() > 0) details->clear_mistake();
  if (over.details().density().series_size() > 0) details->mutable_density()->clear_series();
  if (over.details().decisions().confusion_size() > 0) details->mutable_decisions()->clear_confusion();
  if (over.details().decisions().known_size() > 0) details->mutable_decisions()->clear_known();
  record.MergeFrom(over);
  std::string problem = Problem(record);
  return problem.empty() ? std::string(CheckMetricsOfTrial(record).message()) : problem;
}

TEST(CheckRecord, AcceptsValidRecords) {
  EXPECT_EQ(Problem(Example()), "");
  EXPECT_EQ(Problem(TestRecord(TestKey("abcd"), "m", 0, 0.5)), "");
}

TEST(CheckRecord, RefusesEmptyRecords) {
  EXPECT_EQ(Problem(TrialRecord()), "trial_id: must be set");
  TrialRecord record = Example();
  record.clear_metric();
  EXPECT_EQ(Problem(record), "metric: must not be empty");
  record = Example();
  record.clear_trial();
  EXPECT_EQ(Problem(record), "trial: must be set");
  // Fields that the file has but that are not read.
  record.clear_metric();
  EXPECT_THAT(CheckRecord(record, {TrialRecord::kTrialFieldNumber, TrialRecord::kMetricFieldNumber}), IsOk());
}

// Values that are no shares; a metric that is undefined; two levels and two groups of one metric, and the names of
// older records.
TEST(CheckRecord, AcceptsTheRangeOfEachMetric) {
  for (const char* text : {
           "metric { name: 'nll' value: 7 spec { nll {} } } metric { name: 'known_unknown_ratio' value: 20 }",
           "metric { name: 'expected_cost' value: 3 } metric { name: 'brier' value: 1.9 }",
           "metric { name: 'prediction_rejection_ratio' value: -4 } metric { name: 'youden_macro' value: -0.2 }",
           "metric { name: 'eaurc' value: -0.001 spec { eaurc { oracle: EXACT } } }",
           "metric { name: 'augrc' value: 0.51 spec { augrc { form: TRAPEZOID_NORMALISED } } }",
           "metric { name: 'auroc' value: 1.0000000001 } metric { name: 'mine' value: 50 }",
           "trial { metric { auroc {} } } metric { name: 'auroc' spec { auroc {} } absent_reason: 'no unknown samples' "
           "}",
           "metric { name: 'auroc' value: 0.5 } metric { name: 'auroc' value: 0.5 group { kind: SET set: 's' } }",
           "metric { name: 'ccr_at_fpr' value: 0.5 spec { ccr_at_fpr { fpr: 0.1 } } } "
           "metric { name: 'ccr_at_fpr' value: 0.4 spec { ccr_at_fpr { fpr: 0.01 } } } "
           "trial { metric { ccr_at_fpr { fpr: 0.01 } } metric { ccr_at_fpr { fpr: 0.1 } } }",
       }) {
    EXPECT_EQ(ProblemWith(text), "") << text;
  }
}

// Metrics that depend on unknown samples are measured in each of several sets, accuracy is not.
TEST(CheckMetricsOfTrial, EachGroupHasItsMetrics) {
  EXPECT_EQ(ProblemWith("trial { metric { auroc {} } metric { fpr_at_tpr { tpr: 0.8 } } } "
                        "metric { name: 'auroc' spec { auroc {} } }"),
            "metric: lacks fpr_at_0.8tpr, which the trial lists");
  const std::string trial =
      "trial { data { test_unknown { name: 'a' distance: NEAR } test_unknown { name: 'b' } } metric { accuracy {} } "
      "metric { auroc {} } } metric { name: 'accuracy' value: 0.9 } metric { name: 'auroc' value: 0.9 } "
      "metric { name: 'auroc' value: 0.9 group { kind: SET set: 'a' } } ";
  const std::string of_b = "metric { name: 'auroc' value: 0.9 group { kind: SET set: 'b' } } ",
                    of_near = "metric { name: 'auroc' group { kind: NEAR_MEAN } } ";
  EXPECT_EQ(ProblemWith(trial + of_b + of_near), "");
  EXPECT_EQ(ProblemWith(trial + of_near), "metric: lacks auroc of b, which the trial lists");
  EXPECT_EQ(ProblemWith(trial + of_b), "metric: lacks auroc of mean of near, which the trial lists");
}

TEST(CheckRecord, NamesTheInvalidField) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"metric { name: 'a' value: nan }", "metric[0].value: must be a number (is nan)"},
      {"metric { name: 'a' value: -inf }", "metric[0].value: must be finite (is -inf)"},
      {"metric { value: 1 }", "metric[0].name: must be set"},
      {"metric { name: 'a' interval { low: 0 high: nan } }", "metric[0].interval.high: must be a number (is nan)"},
      {"metric { name: 'a' group { set: 'b' } }", "metric[0].group.kind: must be set"},
      {"metric { name: '\xff' }", "metric[0].name: must be text in UTF-8 (is '\uFFFD')"},
      {"metric { name: 'auroc' value: 1.5 }", "metric[0].value: auroc must be at most 1 (is 1.5)"},
      {"metric { name: 'fpr' value: -0.01 spec { fpr_at_95tpr {} } }",
       "metric[0].value: fpr must be at least 0 (is -0.01)"},
      {"metric { name: 'augrc' value: 1.01 spec { augrc {} } }", "metric[0].value: augrc must be at most 1 (is 1.01)"},
      {"metric { name: 'brier' value: 2.5 spec { brier {} } }", "metric[0].value: brier must be at most 2 (is 2.5)"},
      {"metric { name: 'auroc' value: 0.9 without_block: [0.9, 1.1] }",
       "metric[0].without_block[1]: must be at most 1 (is 1.1)"},
      {"metric { name: 'auroc' value: 0.9 interval { low: 0.8 high: 1.1 } }",
       "metric[0].interval.high: auroc must be at most 1 (is 1.1)"},
      {"epoch { metric { name: 'accuracy' value: 90 } }",
       "epoch[1].metric[0].value: accuracy must be at most 1 (is 90)"},
      {"metric { name: 'auroc' value: 0.5 } metric { name: 'a' } metric { name: 'auroc' value: 0.6 }",
       "metric[2]: has auroc a second time"},
      {"counts { known: -1 }", "counts.known: must be at least 0 (is -1)"},
      {"epoch { loss: inf }", "epoch[1].loss: must be finite (is inf)"},
      {"epoch { train_accuracy: 2 }", "epoch[1].train_accuracy: must be at most 1 (is 2)"},
      {"epoch { epoch: -5 }", "epoch[1].epoch: must be at least 0 (is -5)"},
      {"epoch { metric { name: 'a' value: nan } }", "epoch[1].metric[0].value: must be a number (is nan)"},
      {"trial_id: '../x'", "trial_id: must be 64 lower-case hexadecimal digits (is '../x')"},
      {"outputs_key: '../../../etc'", "outputs_key: must be 64 lower-case hexadecimal digits (is '../../../etc')"},
      {"checkpoint_key: ''", "checkpoint_key: must be 64 lower-case hexadecimal digits (is '')"},
      {"split_sha256: 'ABC'", "split_sha256: must be 64 lower-case hexadecimal digits (is 'ABC')"},
      {"provenance { stage { stage: TRAIN key: 'x' } }",
       "provenance.stage[1].key: must be 64 lower-case hexadecimal digits (is 'x')"},
      {"provenance { stage { stage: TRAIN wall_seconds: nan } }",
       "provenance.stage[1].wall_seconds: must be a number (is nan)"},
      {"provenance { stage { stage: TRAIN host: '\xc0' } }",
       "provenance.stage[1].host: must be text in UTF-8 (is '\uFFFD')"},
      {"ignored_tensor: '\xff'", "ignored_tensor[1]: must be text in UTF-8 (is '\uFFFD')"},
      {"trial { task: '\xff' }", "trial.task: must be text in UTF-8 (is '\uFFFD')"},
      {"trial { axis { name: 'a' value: '\xff' } }", "trial.axis[0].value: must be text in UTF-8 (is '\uFFFD')"},
      {"trial { openness: nan }", "trial.openness: must be a number (is nan)"},
      {"trial { method { inference { ensemble { members: 2147483647 } } } }",
       "trial.method.inference.ensemble.members: must be at most 1000 (is 2147483647)"},
      {"details { curve { kind: ROC x: [0, 1] y: 1 } }",
       "details.curve[0].y: must have as many elements as x (has 1, not 2)"},
      {"details { curve { kind: ROC x: [0, 2] y: [0, 1] } }", "details.curve[0].x[1]: must be at most 1 (is 2)"},
      {"details { curve { kind: ROC x: [0.5, 0] y: [0, 1] } }", "details.curve[0].x: must ascend"},
      {"details { curve { kind: KIND_UNSPECIFIED } }",
       "details.curve[0].kind: must be one of: ROC, OSCR, RISK_COVERAGE, RISK_COVERAGE_POOL"},
      {"details { curve { x: 0 y: 0 } }", "details.curve[0].kind: must be set"},
      {"details { density { low: 3 } }", "details.density.low: must be at most density.high"},
      {"details { density { high: inf } }", "details.density.high: must be finite (is inf)"},
      {"details { density { series { kind: UNKNOWN count: -1 } } }",
       "details.density.series[0].count[0]: must be at least 0 (is -1)"},
      {"details { density { series { kind: UNKNOWN count: 1 } series { kind: UNKNOWN } } }",
       "details.density.series[1].count: must have as many bins as series[0]"},
      {"details { decisions { threshold: nan } }", "details.decisions.threshold: must be a number (is nan)"},
      {"details { decisions { confusion { actual: 2 predicted: 0 } } }",
       "details.decisions.confusion[0]: names classes 2 and 0 of 2 known and 1 unknown ones"},
      {"details { decisions { confusion { actual: -2 predicted: 0 } } }",
       "details.decisions.confusion[0]: names classes -2 and 0 of 2 known and 1 unknown ones"},
      {"details { decisions { confusion { actual: 0 predicted: 1000000000 } } }",
       "details.decisions.confusion[0]: names classes 0 and 1000000000 of 2 known and 1 unknown ones"},
      {"details { decisions { known { samples: 1 rejected: 2 } } }",
       "details.decisions.known[0]: counts more samples than there are"},
      {"details { mistake { kind: WRONG_CLASS row: -1000000000 } }",
       "details.mistake[0].row: must be at least 0 (is -1000000000)"},
      {"details { mistake { kind: WRONG_CLASS row: 10 } }",
       "details.mistake[0].row: must be one of 10 samples (is 10)"},
      {"details { mistake { kind: WRONG_CLASS row: 0 predicted_label: -1000000000 } }",
       "details.mistake[0].predicted_label: must be at least 0 (is -1000000000)"},
      {"details { mistake { kind: WRONG_CLASS row: 0 predicted_label: 2 } }",
       "details.mistake[0].predicted_label: must be one of 2 known classes (is 2)"},
      {"details { mistake { kind: WRONG_CLASS unknown_score: nan } }",
       "details.mistake[0].unknown_score: must be a number (is nan)"},
  };
  for (const auto& [text, problem] : cases) EXPECT_EQ(ProblemWith(text), problem) << text;
}

// Calls `use` with each number and text of a message and its submessages, and restores each value afterwards.
void ForEachValue(google::protobuf::Message* message,
                  const std::function<void(google::protobuf::Message*, const FieldDescriptor*, int)>& use) {
  const auto& reflection = *message->GetReflection();
  for (int f = 0; f < message->GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* field = message->GetDescriptor()->field(f);
    const bool many = field->is_repeated();
    const int count = many ? reflection.FieldSize(*message, field) : reflection.HasField(*message, field);
    for (int i = 0; i < count; ++i) {
      if (field->message_type() != nullptr) {
        ForEachValue(
            many ? reflection.MutableRepeatedMessage(message, field, i) : reflection.MutableMessage(message, field),
            use);
      } else {
        const std::unique_ptr<google::protobuf::Message> before(message->New());
        before->CopyFrom(*message);
        use(message, field, many ? i : -1);
        message->CopyFrom(*before);
      }
    }
  }
}

// Details have a faster check: it must refuse everything that breaks a rule of the schema.
TEST(CheckRecord, AgreesWithTheRulesOfTheSchema) {
  TrialRecord record = Example();
  int wrong = 0, right = 0;
  const auto compare = [&](const FieldDescriptor* field) {
    const std::vector<FieldProblem> problems = FindProblems(record);
    const std::string problem = Problem(record);
    ++(problems.empty() ? right : wrong);
    if (!problems.empty()) {
      EXPECT_EQ(problem, problems[0].path + ": " + problems[0].message) << field->full_name();
    }
  };
  ForEachValue(&record, [&](google::protobuf::Message* message, const FieldDescriptor* field, int i) {
    const auto& r = *message->GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        for (const int32_t value : {-1, 0, 1, 1000000000, std::numeric_limits<int32_t>::min()}) {
          i < 0 ? r.SetInt32(message, field, value) : r.SetRepeatedInt32(message, field, i, value);
          compare(field);
        }
        return;
      case FieldDescriptor::CPPTYPE_INT64:
        for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1}, std::numeric_limits<int64_t>::max(),
                                    std::numeric_limits<int64_t>::min()}) {
          i < 0 ? r.SetInt64(message, field, value) : r.SetRepeatedInt64(message, field, i, value);
          compare(field);
        }
        return;
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT: {
        const double infinity = std::numeric_limits<double>::infinity();
        for (const double value : {std::nan(""), infinity, -infinity, -1.0, 0.0, 0.5, 2.0, 1e30}) {
          if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
            i < 0 ? r.SetDouble(message, field, value) : r.SetRepeatedDouble(message, field, i, value);
          } else {
            const auto single = static_cast<float>(value);
            i < 0 ? r.SetFloat(message, field, single) : r.SetRepeatedFloat(message, field, i, single);
          }
          compare(field);
        }
        return;
      }
      case FieldDescriptor::CPPTYPE_STRING:
        for (const char* value : {"", "a", "\xff", "../x"}) {
          i < 0 ? r.SetString(message, field, value) : r.SetRepeatedString(message, field, i, value);
          compare(field);
        }
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        r.SetEnumValue(message, field, 0);
        compare(field);
        return;
      default:
        return;
    }
  });
  EXPECT_GT(wrong, 100);
  EXPECT_GT(right, 100);
}

TEST(CheckRecord, EnforcesLimitsOfLists) {
  TrialRecord record = Example();
  while (record.details().mistake_size() < 72) *record.mutable_details()->add_mistake() = record.details().mistake(0);
  EXPECT_EQ(Problem(record), "");
  *record.mutable_details()->add_mistake() = record.details().mistake(0);
  EXPECT_EQ(Problem(record), "details.mistake: must have at most 72 elements (has 73)");
}

TEST(CheckMessage, SummariesAndFailures) {
  TrainSummary train;
  train.mutable_action()->mutable_train()->set_seed(1);
  train.set_checkpoint_sha256("x");
  EXPECT_THAT(CheckMessage(train), StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr("checkpoint_sha256: ")));
  train.set_checkpoint_sha256(TestKey("1"));
  EXPECT_THAT(CheckMessage(train), IsOk());
  train.add_epoch()->set_loss(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(CheckMessage(train), StatusIs(absl::StatusCode::kDataLoss, "epoch[0].loss: must be a number (is nan)"));
  InferSummary infer;
  EXPECT_THAT(CheckMessage(infer), IsOk());
  infer.set_outputs_sha256("../x");
  EXPECT_THAT(CheckMessage(infer), StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr("outputs_sha256: ")));
  FailureRecord failure;
  failure.set_key(TestKey("1"));
  EXPECT_THAT(CheckMessage(failure), IsOk());
  failure.set_code(17);
  EXPECT_THAT(CheckMessage(failure), StatusIs(absl::StatusCode::kDataLoss, "code: must be at most 16 (is 17)"));
}

TEST(CheckRecord, ReadsManyEpochs) {
  TrialRecord record = Example();
  const EpochSummary epoch = record.epoch(0);
  for (int i = 0; i < 300'000; ++i) *record.add_epoch() = epoch;
  ReadLarge("record", [&] { EXPECT_THAT(CheckRecord(record), IsOk()); });
}

}  // namespace
}  // namespace openset
