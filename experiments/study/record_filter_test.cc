#include "experiments/study/record_filter.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "experiments/study/study.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

class RecordFilterTest : public ::testing::Test {
 protected:
  RecordFilterTest() : store_(sandbox_.folder() + "/store") {}

  // The study of the spec and `more`, with the filter `only`.
  std::unique_ptr<Study> Load(const std::string& more, const std::string& only) {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kMinimalSpec, more));
    StudyOptions options;
    options.only = only;
    absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox_.folders(), store_, options);
    EXPECT_THAT(study, IsOk());
    return *std::move(study);
  }

  // The needed actions and their trials: "infer 0 evaluate 0".
  static std::string Needed(const Study& study) {
    std::string needed;
    for (const Action& action : study.plan().actions) {
      if (action.is_needed()) absl::StrAppend(&needed, KindName(action.kind), " ", action.trials[0], " ");
    }
    return needed;
  }

  void Fail(const std::string& key) {
    FailureRecord failure;
    failure.set_key(key);
    ASSERT_THAT(store_.WriteFailure(failure), IsOk());
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(RecordFilterTest, FailedAreThoseOfAFailedActionAndMissingTheOthers) {
  const std::string two = "method: 'pairs'";
  EXPECT_EQ(Needed(*Load(two, "missing")), Needed(*Load(two, "")));
  EXPECT_EQ(Needed(*Load(two, "failed")), "");
  const Plan plan = Load(two, "")->plan();
  ASSERT_EQ(plan.actions.size(), 6);
  Fail(plan.actions[3].key);
  EXPECT_EQ(Needed(*Load(two, "failed")), "train 1 infer 1 evaluate 1 ");
  EXPECT_EQ(Needed(*Load(two, "missing")), "train 0 infer 0 evaluate 0 ");
  EXPECT_EQ(Needed(*Load(two, "changed")), "");

  // The failed action has succeeded since.
  TrialRecord record;
  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(plan.trial_id(1));
  *record.mutable_trial() = plan.trials[1].Spec();
  record.add_metric()->set_name("accuracy");
  ASSERT_THAT(store_.CommitRecord(record), IsOk());
  EXPECT_EQ(Needed(*Load(two, "failed")), "");
  EXPECT_EQ(Needed(*Load(two, "missing")), "train 0 infer 0 evaluate 0 ");
  EXPECT_EQ(Load(two, "failed")->plan().CountLeft(), 1);
}

// A choice waits for all of its candidates.
TEST_F(RecordFilterTest, AChoiceNeedsAllItsCandidates) {
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                 "split { known: [0, 1, 2] unknown: 3 }");
  const std::string searched =
      "validation_per_class: 5 override { score { temperature_scaled_softmax {} } } search { method: 'plain' "
      "axis { path: 'score.temperature_scaled_softmax.temperature' value: ['1', '2', '10'] } criterion { aurc {} } }";
  const auto count = [&](const std::string& only, ActionKind kind) {
    return Load(searched, only)->plan().CountNeeded(kind);
  };
  EXPECT_EQ(count("missing", ActionKind::kEvaluate), 1 + 3);
  EXPECT_EQ(count("missing", ActionKind::kChoose), 1);
  Fail(Load(searched, "")->plan().trial_id(1));  // the first candidate
  EXPECT_EQ(count("missing", ActionKind::kEvaluate), 1 + 2);
  EXPECT_EQ(count("missing", ActionKind::kChoose), 0);
  EXPECT_EQ(count("failed", ActionKind::kEvaluate), 1);
  EXPECT_EQ(count("failed", ActionKind::kChoose), 0);
}

TEST_F(RecordFilterTest, ChangedAreThoseThatAreMadeAgain) {
  Plan plan;
  plan.Add({});
  plan.redone.insert(plan.Add({}).id);
  const RecordFilter changed = *MakeRecordFilter("changed", store_);
  EXPECT_FALSE(changed(plan, plan.actions[0]));
  EXPECT_TRUE(changed(plan, plan.actions[1]));
  EXPECT_EQ(*MakeRecordFilter("", store_), nullptr);
  StudyOptions options;
  options.only = "changed";
  options.redo = "all";
  sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
  EXPECT_THAT(Study::Load("spec", sandbox_.folders(), store_, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--only: 'changed' is --redo=changed")));
}

TEST_F(RecordFilterTest, OtherWordsAreRefused) {
  EXPECT_THAT(
      MakeRecordFilter("faild", store_).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--only: unknown word 'faild'; did you mean 'failed'?")));
}

}  // namespace
}  // namespace openset
