// A study on a tiny data set, with fake records.
#ifndef OPENSET_EXPERIMENTS_TESTING_STUDY_SCENE_H_
#define OPENSET_EXPERIMENTS_TESTING_STUDY_SCENE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "experiments/testing/spec_sandbox.h"
#include "gtest/gtest.h"

namespace openset {

// Two trials. The trial of the method plain also has a search among four candidates on two trainings.
inline constexpr char kSearched[] = R"(
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

// Data set, task and methods are SpecSandbox's, but the task has only split 0, with class 4 as external images.
class StudyScene : public ::testing::Test {
 protected:
  StudyScene() : store_(sandbox_.folder() + "/store") {
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'digits' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
  }

  // The study of kMinimalSpec and this text.
  absl::StatusOr<std::unique_ptr<Study>> Load(const std::string& more, const std::string& redo = "") {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kMinimalSpec, more));
    StudyOptions options;
    options.redo = redo;
    return Study::Load("spec", sandbox_.folders(), store_, options);
  }

  // Stores a record of the trial with this AURC, or with none.
  void Record(const Study& study, int trial, std::optional<double> value) {
    TrialRecord record;
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(study.plan().trial_id(trial));
    *record.mutable_trial() = study.plan().trials[trial].Spec();
    MetricRecord* metric = record.add_metric();
    metric->set_name("aurc");
    if (value.has_value()) metric->set_value(*value);
    if (!value.has_value()) metric->set_absent_reason("no known samples");
    ASSERT_TRUE(store_.CommitRecord(record).ok());
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

// The first choice of the study's plan.
inline ActionId ChoiceOf(const Study& study) {
  const auto is_choice = [](const Action& action) { return action.kind == ActionKind::kChoose; };
  return absl::c_find_if(study.plan().actions, is_choice)->id;
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_STUDY_SCENE_H_
