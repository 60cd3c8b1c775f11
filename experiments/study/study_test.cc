#include "experiments/study/study.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/describe.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two trials, of which method plain's is searched for too, among four candidates on two trainings.
constexpr char kSearched[] = R"(
method: "pairs"
validation_per_class: 5
override { score { temperature_scaled_softmax {} } }
search {
  method: "plain"
  axis { path: "score.temperature_scaled_softmax.temperature" value: ["1", "10"] }
  axis { path: "training.epochs" value: ["1", "3"] }
  criterion { aurc {} }
}
)";

class StudyTest : public ::testing::Test {
 protected:
  StudyTest() : store_(sandbox_.folder() + "/store") {
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
  }

  absl::StatusOr<std::unique_ptr<Study>> Load(const std::string& more) {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kMinimalSpec, more));
    return Study::Load("spec", sandbox_.folders(), store_);
  }

  // Makes the record of a trial, whose AURC is `value`.
  void Record(const Study& study, int trial, double value) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(study.plan().trial_id(trial));
    *record.mutable_trial() = study.plan().trials[trial].Spec();
    MetricRecord* metric = record.add_metric();
    metric->set_name("aurc");
    metric->set_value(value);
    ASSERT_TRUE(store_.CommitRecord(record).ok());
  }

  std::vector<std::string> Reported(const Study& study) {
    std::vector<std::string> trials;
    for (const int t : study.ReportedTrials()) trials.push_back(Describe(study.plan().trials[t]));
    return trials;
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(StudyTest, GrowsByWhatItsSearchesChoose) {
  const absl::StatusOr<std::unique_ptr<Study>> loaded = Load(kSearched);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  Study& study = **loaded;
  EXPECT_THAT(Reported(study), ElementsAre("plain on task, split 0, seed 0", "pairs on task, split 0, seed 0"));
  EXPECT_EQ(study.waiting(), 1);
  ASSERT_EQ(study.plan().trials.size(), 2 + 4);
  EXPECT_EQ(study.plan().Count(ActionKind::kChoose), 1);
  EXPECT_EQ(study.plan().CountNeeded(ActionKind::kEvaluate), 6);

  // With a candidate missing nothing is chosen.
  const auto is_choice = [](const PlanNode& node) { return node.kind == ActionKind::kChoose; };
  const int choice = static_cast<int>(absl::c_find_if(study.plan().nodes, is_choice) - study.plan().nodes.begin());
  for (const int t : {0, 1, 2, 3, 4}) Record(study, t, t == 4 ? 0.1 : 0.3);
  EXPECT_THAT(study.Choose(choice).status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(study.waiting(), 1);

  // The third of the grid wins: temperature 10, one epoch. It is trained on all samples, so nothing of it was done.
  Record(study, 5, 0.2);
  const absl::StatusOr<std::vector<int>> added = study.Choose(choice);
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(study.plan().nodes[added->back()].key, study.plan().trial_id(6));
  EXPECT_EQ(study.waiting(), 0);
  EXPECT_THAT(Reported(study), ElementsAre("plain on task, split 0, seed 0", "plain (tuned) on task, split 0, seed 0",
                                           "pairs on task, split 0, seed 0"));
  EXPECT_EQ(study.plan().trials[6].method().score().temperature_scaled_softmax().temperature(), 10);
  EXPECT_EQ(study.plan().trials[6].method().training().epochs(), 1);
  const absl::StatusOr<Report> report = study.MakeReport();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->trials, 3);
  EXPECT_EQ(report->missing, 1);
  EXPECT_EQ(report->waiting, 0);

  // Loaded again, it holds the same trials, and no candidates any more.
  const absl::StatusOr<std::unique_ptr<Study>> again = Load(kSearched);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Reported(**again), Reported(study));
  EXPECT_EQ((*again)->plan().trials.size(), 3);
  EXPECT_EQ((*again)->plan().trial_id(1), study.plan().trial_id(6));
}

TEST_F(StudyTest, DataWithoutChecksumsThatChangeAreMadeAnew) {
  const auto id = [this] {
    sandbox_.Write("experiments/specs/spec.textproto", kMinimalSpec);
    StudyOptions options;
    options.data_folders = {sandbox_.folder()};
    const absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox_.folders(), store_, options);
    EXPECT_TRUE(study.ok()) << study.status();
    return (*study)->plan().trial_id(0);
  };
  const std::string untold = id();
  for (const char* file : {"train-images", "train-labels", "test-images", "test-labels"}) {
    sandbox_.Write(absl::StrCat("digits/", file), file);
  }
  const std::string told = id();
  EXPECT_NE(told, untold);
  EXPECT_EQ(id(), told);
  sandbox_.Write("digits/test-images", "other-image");  // of the same size
  EXPECT_NE(id(), told);
  sandbox_.Write("digits/test-images", "test-images");
  EXPECT_EQ(id(), told);
}

TEST_F(StudyTest, NamesTheFilesThatAreMissing) {
  const absl::StatusOr<std::unique_ptr<Study>> study = Load("");
  ASSERT_TRUE(study.ok()) << study.status();
  EXPECT_THAT((*study)->CheckInputs({sandbox_.folder()}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("digits/test-images")));
  // Of a study that is done no file is looked for.
  Record(**study, 0, 0.5);
  const absl::StatusOr<std::unique_ptr<Study>> done = Load("");
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE((*done)->CheckInputs({sandbox_.folder()}).ok());
}

TEST_F(StudyTest, ErrorsAreThoseOfTheSpec) {
  EXPECT_THAT(Load("method: 'plan'"), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("method[1]: unknown method 'plan'; did you mean 'plain'?")));
}

}  // namespace
}  // namespace openset
