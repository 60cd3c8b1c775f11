#include "experiments/store/records/record_id.h"

#include <functional>

#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/store/testing/records.h"
#include "experiments/testing/spec_sandbox.h"
#include "google/protobuf/unknown_field_set.h"

namespace openset {
namespace {

class RecordIdTest : public ::testing::Test {
 protected:
  RecordIdTest() {
    const absl::StatusOr<Experiment> experiment = sandbox_.Load(kMinimalSpec);
    EXPECT_THAT(experiment, IsOk());
    const Trial trial = Expand(*experiment)->at(0);
    id_ = TrialId(trial);
    record_ = TestRecord(id_, "", 0, 0.5);
    *record_.mutable_trial() = trial.Spec();
    record_.set_checkpoint_key(MessageDigest(MakeTraining(trial)));
    record_.set_outputs_key(MessageDigest(MakeAction(trial, ActionKind::kInfer)));
    record_.mutable_provenance()->clear_raised_revision();
  }

  // Returns what is wrong with the record after `change`.
  std::string Problem(const std::function<void(TrialRecord*)>& change) const {
    TrialRecord record = record_;
    change(&record);
    const absl::Status status = CheckTrialId(record);
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
    return std::string(status.message());
  }

  const SpecSandbox sandbox_;
  std::string id_;
  TrialRecord record_;
};

TEST_F(RecordIdTest, IsThatOfTheTrial) {
  EXPECT_EQ(Problem([](TrialRecord*) {}), "");
  // Labels do not affect the id.
  EXPECT_EQ(Problem([](TrialRecord* record) { record->mutable_trial()->set_task("another name"); }), "");
  // An absent key is not wrong.
  EXPECT_EQ(Problem([](TrialRecord* record) { record->clear_outputs_key(); }), "");
}

TEST_F(RecordIdTest, RefusesTheIdOfAnotherTrial) {
  const std::string other = TestKey("abcd");
  EXPECT_EQ(Problem([&](TrialRecord* record) { record->set_trial_id(other); }),
            "trial_id: is " + other + ", but the trial gives " + id_);
  EXPECT_THAT(Problem([](TrialRecord* record) { record->mutable_trial()->set_seed(1); }), HasSubstr("trial_id: is "));
  EXPECT_THAT(Problem([](TrialRecord* record) { record->mutable_trial()->add_metric()->mutable_auroc(); }),
              HasSubstr("trial_id: is "));
  EXPECT_THAT(
      Problem([](TrialRecord* record) { record->mutable_trial()->mutable_data()->mutable_train()->add_class_id(9); }),
      HasSubstr("trial_id: is "));
}

TEST_F(RecordIdTest, RefusesOtherKeysOfTheTrial) {
  const std::string other = TestKey("abcd");
  EXPECT_THAT(Problem([&](TrialRecord* record) { record->set_checkpoint_key(other); }),
              HasSubstr("checkpoint_key: is " + other));
  EXPECT_THAT(Problem([&](TrialRecord* record) { record->set_outputs_key(other); }),
              HasSubstr("outputs_key: is " + other));
  EXPECT_EQ(Problem([&](TrialRecord* record) { record->set_fit_outputs_key(other); }),
            "fit_outputs_key: is " + other + ", but the trial gives none");
}

TEST_F(RecordIdTest, AnIncompleteTrialHasNoId) {
  EXPECT_THAT(Problem([](TrialRecord* record) { record->mutable_trial()->mutable_method()->clear_score(); }),
              HasSubstr("trial.method.score: must be set"));
  EXPECT_THAT(Problem([](TrialRecord* record) { record->clear_trial(); }), HasSubstr("trial.method.model"));
}

// The keys can't be recomputed for earlier or later revisions, or for fields that only a later openset knows; the
// record must then be consistent.
TEST_F(RecordIdTest, OtherRevisionsMustAgreeWithTheirStages) {
  const std::string other = TestKey("abcd"), outputs = TestKey("ef00");
  const std::vector<std::function<void(TrialRecord*)>> unknown = {
      [](TrialRecord* record) { record->mutable_provenance()->add_raised_revision("openset.EnergySpec 2"); },
      [](TrialRecord* record) {
        TrialSpec* trial = record->mutable_trial();
        trial->GetReflection()->MutableUnknownFields(trial)->AddVarint(5000, 1);
      },
      [](TrialRecord* record) {
        MethodSpec* method = record->mutable_trial()->mutable_method();
        method->GetReflection()->MutableUnknownFields(method)->AddVarint(5000, 1);
      }};
  for (const auto& make_unknown : unknown) {
    const auto problem = [&](bool of_evaluation, const std::string& of_inference) {
      return Problem([&](TrialRecord* record) {
        make_unknown(record);
        record->set_trial_id(other);
        record->set_outputs_key(outputs);
        if (of_evaluation) record->mutable_provenance()->mutable_stage(0)->set_key(other);
        StageProvenance* stage = record->mutable_provenance()->add_stage();
        stage->set_stage(StageProvenance::INFER);
        stage->set_key(of_inference);
      });
    };
    EXPECT_EQ(problem(true, outputs), "");
    EXPECT_EQ(problem(false, outputs), "provenance: has no evaluation with the record's trial_id");
    EXPECT_EQ(problem(true, other), "provenance: has no inference with its outputs_key");
  }
}

TEST_F(RecordIdTest, NoRevisionIsRaisedYet) { EXPECT_THAT(RaisedRevisions(record_.trial()), IsEmpty()); }

TEST_F(RecordIdTest, DecodesUntrustedBytes) {
  TrialRecord read;
  EXPECT_THAT(DecodeSharedRecord(EncodeRecord(record_), id_, &read), IsOk());
  EXPECT_EQ(read.trial_id(), id_);
  const auto problem = [&](const TrialRecord& record) { return DecodeSharedRecord(EncodeRecord(record), id_, &read); };
  EXPECT_THAT(DecodeSharedRecord("x", id_, &read), StatusIs(absl::StatusCode::kDataLoss, "not a record file"));
  TrialRecord changed = record_;
  changed.set_schema_version(4);
  EXPECT_THAT(problem(changed), IsDataLoss("is of schema version 4"));
  changed = record_;
  changed.set_trial_id(TestKey("abcd"));
  EXPECT_THAT(problem(changed), StatusIs(absl::StatusCode::kDataLoss, "is the record of another trial"));
  changed = record_;
  changed.clear_metric();
  EXPECT_THAT(problem(changed), StatusIs(absl::StatusCode::kDataLoss, "metric: must not be empty"));
  changed = record_;
  changed.mutable_trial()->set_seed(5);
  EXPECT_THAT(problem(changed), IsDataLoss("trial_id: is "));
}

}  // namespace
}  // namespace openset
