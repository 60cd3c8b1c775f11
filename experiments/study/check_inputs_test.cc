#include "experiments/study/check_inputs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/files.h"
#include "experiments/plan/planner.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// The sandbox's data sets have no files. Images of data set "others" are external.
class CheckInputsTest : public ::testing::Test {
 protected:
  CheckInputsTest() {
    const std::string digits = *ReadFile(sandbox_.folder() + "/data/catalog/digits.textproto");
    sandbox_.Write("data/catalog/others.textproto", absl::StrReplaceAll(digits, {{"digits", "others"}}));
    sandbox_.Write("data/tasks/task.textproto",
                   "name: 'task' data_set: 'digits' external { data_set: 'others' class_id: 4 } "
                   "split { known: [0, 1, 2] unknown: 3 }");
  }

  std::vector<std::string> Missing(const std::string& more) {
    Load(more);
    std::vector<std::string> names;
    for (const MissingData& missing : FindMissingData(plan_, experiment_->catalog, {sandbox_.folder()})) {
      names.push_back(missing.data_set);
      EXPECT_EQ(missing.fix, "provide the files");
    }
    return names;
  }

  void Load(const std::string& more) {
    experiment_ = sandbox_.Load(absl::StrCat(kMinimalSpec, more));
    ASSERT_TRUE(experiment_.ok()) << experiment_.status();
    plan_ = MakePlan(*Expand(*experiment_), Store("/nowhere"), [](const Selection&) { return 1; });
  }

  SpecSandbox sandbox_;
  absl::StatusOr<Experiment> experiment_;
  Plan plan_;
};

TEST_F(CheckInputsTest, NamesTheMissingFile) {
  Load("");
  const absl::Status status = CheckInputs(plan_, experiment_->catalog, {sandbox_.folder()});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("digits/t"));
}

TEST_F(CheckInputsTest, FindsTheDataSetsThatAreRead) {
  EXPECT_THAT(Missing(""), ::testing::ElementsAre("digits"));
  EXPECT_THAT(Missing("override { open_set { external_images {} } loss { term { outlier_exposure {} } } }"),
              ::testing::ElementsAre("digits", "others"));
}

// Only the measurements during the training read the external images.
TEST_F(CheckInputsTest, MeasurementsDuringATrainingReadDataToo) {
  EXPECT_THAT(Missing("validation_per_class: 5 override { training { evaluate_every { epochs: 1 } } }"),
              ::testing::ElementsAre("digits", "others"));
}

}  // namespace
}  // namespace openset
