#include "experiments/study/guidelines.h"

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/resolve/expand.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

class GuidelinesTest : public ::testing::Test {
 protected:
  // The checks of kMinimalSpec (one split, accuracy) and what is appended to it.
  std::vector<Guideline> Check(const std::string& more) {
    const absl::StatusOr<Experiment> experiment = sandbox_.Load(absl::StrCat(kMinimalSpec, more));
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    const absl::StatusOr<std::vector<Trial>> trials = Expand(*experiment);
    EXPECT_TRUE(trials.ok()) << trials.status();
    std::vector<const Trial*> pointers;
    for (const Trial& trial : *trials) pointers.push_back(&trial);
    return CheckGuidelines(pointers, experiment->catalog);
  }

  const SpecSandbox sandbox_;
};

// 3 known and 2 unknown classes: openness 1 - sqrt(6 / 8) = 0.134, 30 known and 20 unknown test samples.
TEST_F(GuidelinesTest, AMinimalSpecBreaksAllButImbalance) {
  const std::vector<Guideline> lines = Check("");
  ASSERT_EQ(lines.size(), 5);
  for (int i : {0, 1, 2, 3}) EXPECT_FALSE(lines[i].kept) << lines[i].text;
  EXPECT_THAT(lines[0].text, HasSubstr("only one openness level (0.134: 3 known and 2 unknown classes)"));
  EXPECT_THAT(lines[1].text, HasSubstr("only one draw of the classes in task"));
  EXPECT_THAT(lines[2].text, HasSubstr("no metric reads unknown samples"));
  EXPECT_THAT(lines[3].text, HasSubstr("no metric covers the closed-set and the open-set decision together"));
  EXPECT_TRUE(lines[4].kept);
  EXPECT_EQ(lines[4].text, "known:unknown test samples 1.50; each report states them");
}

TEST_F(GuidelinesTest, LevelsAndJointMetricsKeepThem) {
  const std::vector<Guideline> lines = Check("unknown_classes: [1, 2] metric { auroc {} } metric { openauc {} }");
  EXPECT_TRUE(lines[0].kept);
  EXPECT_EQ(lines[0].text, "2 levels of openness");
  EXPECT_FALSE(lines[1].kept);
  EXPECT_TRUE(lines[2].kept);
  EXPECT_EQ(lines[2].text, "the first metric that reads unknown samples is AUROC: neither an F-score nor accuracy");
  EXPECT_TRUE(lines[3].kept);
  EXPECT_EQ(lines[4].text, "known:unknown test samples 1.50 to 3.00; each report states them");
}

// The minimal spec's method sees one channel.
TEST_F(GuidelinesTest, WarnsAboutGreyInputOfColourImages) {
  ASSERT_OK_AND_ASSIGN(Experiment experiment,
                       sandbox_.Load(absl::StrCat(kMinimalSpec, "override { input { size: 28 channels: 1 } }")));
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  const std::vector<const Trial*> pointers = {&trials.at(0), &trials.at(0)};
  EXPECT_TRUE(InputWarnings(pointers, experiment.catalog).empty());  // grey images
  experiment.catalog.FindMutable("digits")->set_channels(3);
  const std::vector<std::string> lines = InputWarnings(pointers, experiment.catalog);
  ASSERT_EQ(lines.size(), 1);
  EXPECT_THAT(lines[0], HasSubstr("plain sees grey images of 28 x 28 pixels, but the images of digits are in colour"));
}

TEST_F(GuidelinesTest, AnFScoreIsNoHeadline) {
  const std::vector<Guideline> lines = Check("metric { open_set_f_macro {} } metric { auroc {} }");
  EXPECT_FALSE(lines[2].kept);
  EXPECT_THAT(lines[2].text, HasSubstr("the first metric that reads unknown samples is open-set F (macro"));
}

// Two draws of three known and two unknown classes.
TEST_F(GuidelinesTest, DrawsAreOfDifferentClasses) {
  for (const auto& [second, kept] :
       {std::pair{"known: [4, 3, 0] unknown: [1, 2]", true}, {"known: [2, 1, 0] unknown: [4, 3]", false}}) {
    sandbox_.Write("data/tasks/two.textproto",
                   absl::StrCat("name: 'two' data_set: 'digits' split { known: [0, 1, 2] unknown: [3, 4] } split { ",
                                second, " }"));
    ASSERT_OK_AND_ASSIGN(const Experiment experiment,
                         sandbox_.Load("name: 'spec' task: 'two' method: 'plain' seed: 0 metric { auroc {} }"));
    ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
    std::vector<const Trial*> pointers;
    for (const Trial& trial : trials) pointers.push_back(&trial);
    EXPECT_EQ(CheckGuidelines(pointers, experiment.catalog)[1].kept, kept) << second;
  }
}

// 10 known samples, and 30 of each of 4 unknown classes.
TEST_F(GuidelinesTest, WarnsAboutAnUnevenTestSet) {
  sandbox_.Write(
      "data/tasks/task.textproto",
      "name: 'task' data_set: 'digits' unknown { data_set: 'digits' more_part: 'train' class_id: [1, 2, 3, 4] } "
      "split { known: 0 }");
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, sandbox_.Load(kMinimalSpec));
  ASSERT_OK_AND_ASSIGN(const std::vector<Trial> trials, Expand(experiment));
  const Guideline line = CheckGuidelines({&trials.front()}, experiment.catalog)[4];
  EXPECT_FALSE(line.kept);
  EXPECT_THAT(line.text, HasSubstr("known:unknown test samples 0.08: one side is ten times the other"));
}

TEST_F(GuidelinesTest, WithoutTrialsThereIsNothingToSay) {
  ASSERT_OK_AND_ASSIGN(const Experiment experiment, sandbox_.Load(kMinimalSpec));
  EXPECT_TRUE(CheckGuidelines({}, experiment.catalog).empty());
}

}  // namespace
}  // namespace openset
