// Tests ResolveTask(): drawn splits, folds, groups with their own classes, shifted samples.
#include "core/openness.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "data/testing/small_catalog.h"

namespace openset {
namespace {

TaskSpec Parse(const std::string& text) {
  return ParsedWithDefaults<TaskSpec>("name: 'task' data_set: 'four' " + text);
}

TaskData Resolve(const std::string& text, const TaskRequest& request = {}) {
  const absl::StatusOr<TaskData> data = ResolveTask(Parse(text), request, SmallCatalog());
  EXPECT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(FindProblems(data.value_or(TaskData())), IsEmpty());
  return data.value_or(TaskData());
}

TEST(ResolveTask, DrawsSplits) {
  const TaskSpec task = Parse("drawn { level { known: 1 unknown: 2 } level { known: 2 unknown: 2 } repeats: 3 }");
  EXPECT_EQ(CountSplits(task), 6);
  const std::vector<ClassSplit> splits = *ClassSplitsOf(task, SmallCatalog());
  ASSERT_EQ(splits.size(), 6);
  for (int s = 0; s < 6; ++s) {
    ASSERT_OK_AND_ASSIGN(const TaskData data, ResolveTask(task, {s}, SmallCatalog()));
    EXPECT_EQ(data.train().class_id_size(), s < 3 ? 1 : 2);
    EXPECT_THAT(data.train().class_id(), testing::ElementsAreArray(splits[s].known()));
    EXPECT_THAT(data.test_unknown(0).selection().class_id(), testing::ElementsAreArray(splits[s].unknown()));
    EXPECT_DOUBLE_EQ(Openness(data), Openness(s < 3 ? 1 : 2, 2));
  }
  EXPECT_THAT(ResolveTask(task, {6}, SmallCatalog()).status().message(), HasSubstr("has no split 6 (0 to 5)"));
  EXPECT_EQ(ResolveTask(Parse("drawn { level { known: 3 unknown: 2 } }"), {}, SmallCatalog()).status(),
            absl::InvalidArgumentError("drawn.level[0]: 3 known and 2 unknown classes can't be drawn: 'four' has 4 "
                                       "classes"));
}

TEST(ResolveTask, DrawsFromTheListOfASource) {
  const TaskSpec task = Parse(
      "unknown { data_set: 'three' class_id: [2, 0] } drawn { level { known: 2 unknown: 2 } level { known: 2 unknown: "
      "1 } "
      "repeats: 4 }");
  const std::vector<ClassSplit> splits = *ClassSplitsOf(task, SmallCatalog());
  ASSERT_EQ(splits.size(), 8);
  for (int s = 0; s < 8; ++s) {
    ASSERT_OK_AND_ASSIGN(const TaskData data, ResolveTask(task, {s}, SmallCatalog()));
    EXPECT_EQ(data.test_unknown(0).selection().class_id_size(), s < 4 ? 2 : 1);
    for (const int id : data.test_unknown(0).selection().class_id()) EXPECT_NE(id, 1);
  }
}

// The pool has 15 samples of each class.
TEST(ResolveTask, FoldsOfThePool) {
  const std::string text = "split { known: [3, 0] } split { known: 1 } cross_validation { folds: 4 seed: 9 }";
  EXPECT_EQ(CountSplits(Parse(text)), 8);
  const TaskData data = Resolve(text, {/*split=*/6});
  EXPECT_THAT(data.train().class_id(), ElementsAre(1));
  for (const Selection* selection : {&data.train(), &data.test_known(), &data.test_unknown(0).selection()}) {
    EXPECT_EQ(selection->part(), "train");
    ASSERT_EQ(selection->more_size(), 1);
    EXPECT_EQ(selection->more(0).part(), "test");
    EXPECT_EQ(selection->fold().fold(), 2);
    EXPECT_EQ(selection->fold().folds(), 4);
    EXPECT_EQ(selection->fold().seed(), 9);
    EXPECT_EQ(selection->fold().others(), selection == &data.train());
    EXPECT_FALSE(selection->fold().has_of());
  }
  // Fold 2 of 15: 4.
  EXPECT_EQ(*CountSamples(data.train(), SmallCatalog()), 11);
  EXPECT_EQ(*CountSamples(data.test_known(), SmallCatalog()), 4);
  EXPECT_EQ(*CountSamples(data.test_unknown(0).selection(), SmallCatalog()), 3 * 4);
  // Only 11 of a class's samples are for training, so 11 can't be left out for validation, but 10 can.
  TaskRequest request{6};
  request.validation_per_class = 10;
  EXPECT_EQ(*CountSamples(Resolve(text, request).train(), SmallCatalog()), 1);
  request.validation_per_class = 11;
  EXPECT_EQ(ResolveTask(Parse(text), request, SmallCatalog()).status(),
            absl::InvalidArgumentError("validation_per_class: keeps 11 samples of each class, and 'four' has 11 "
                                       "training samples of class 1 (class 1)"));
}

TEST(ResolveTask, UnknownsOfAnotherDataSetAreInEveryFold) {
  const TaskData data = Resolve(
      "unknown { data_set: 'three' more_part: 'train' } split { known: 1 unknown: [2, 0] } "
      "cross_validation { folds: 2 tuning_shares: 5 }",
      {1});
  const Selection& unknown = data.test_unknown(0).selection();
  EXPECT_FALSE(unknown.has_fold());
  EXPECT_EQ(unknown.part(), "test");
  EXPECT_EQ(unknown.more(0).part(), "train");
  EXPECT_EQ(*CountSamples(unknown, SmallCatalog()), 2 * 15);
  // A fifth of 15 is set aside: 12 are left, 6 in each fold.
  EXPECT_EQ(data.train().fold().of().name(), "tuning");
  EXPECT_TRUE(data.train().fold().of().others());
  EXPECT_EQ(*CountSamples(data.train(), SmallCatalog()), 6);
  EXPECT_EQ(*CountSamples(data.test_known(), SmallCatalog()), 6);
  const TaskData tuning =
      Resolve("split { known: 1 } cross_validation { folds: 2 tuning_shares: 5 on_tuning_share: true }", {1});
  EXPECT_FALSE(tuning.train().fold().of().others());
  EXPECT_EQ(*CountSamples(tuning.train(), SmallCatalog()), 2);
  EXPECT_EQ(*CountSamples(tuning.test_known(), SmallCatalog()), 1);
}

TEST(ResolveTask, GroupsWithClassesOfTheirOwnAndDraws) {
  const TaskData data = Resolve(
      "unknown { group: 'near' data_set: 'four' class_id: [3, 2] distance: NEAR }"
      "unknown { group: 'far' data_set: 'three' distance: FAR draw_samples: 7 draw_seed: 4 } split { known: [1, 0] }");
  ASSERT_EQ(data.test_unknown_size(), 2);
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(3, 2));
  EXPECT_FALSE(data.test_unknown(0).selection().has_draw());
  EXPECT_EQ(data.test_unknown(1).selection().draw().name(), "far/draw");
  EXPECT_EQ(data.test_unknown(1).selection().draw().seed(), 4);
  EXPECT_EQ(*CountSamples(data.test_unknown(1).selection(), SmallCatalog()), 7);
}

// get_equal_len_datasets() in OpenAUC's data/*.py: np.random.choice draws from the larger side as many samples as the
// smaller one has, with replacement.
TEST(ResolveTask, BalancedTestsDrawTheLargerSide) {
  const auto count = [](const Selection& selection) { return *CountSamples(selection, SmallCatalog()); };
  const TaskData plain = Resolve("split { known: [1] unknown: [0, 2] }");
  const TaskData few_known =
      Resolve("balanced_with_replacement: true balanced_seed: 3 split { known: [1] unknown: [0, 2] }");
  EXPECT_FALSE(few_known.test_known().has_draw());
  const Draw& draw = few_known.test_unknown(0).selection().draw();
  EXPECT_TRUE(draw.with_replacement());
  EXPECT_EQ(draw.samples(), count(plain.test_known()));
  EXPECT_EQ(draw.name(), "balanced/unknown");
  EXPECT_EQ(draw.seed(), 3);
  EXPECT_EQ(count(few_known.test_unknown(0).selection()), count(few_known.test_known()));
  const TaskData few_unknown = Resolve("balanced_with_replacement: true split { known: [1, 0] unknown: 2 }");
  EXPECT_EQ(few_unknown.test_known().draw().samples(), count(few_unknown.test_unknown(0).selection()));
  EXPECT_FALSE(few_unknown.train().has_draw());
  EXPECT_FALSE(few_unknown.test_unknown(0).selection().has_draw());
  const absl::Status status =
      ResolveTask(Parse("balanced_with_replacement: true unknown { group: 'a' data_set: 'four' class_id: 2 } "
                        "unknown { group: 'b' data_set: 'four' class_id: 3 } split { known: [1, 0] }"),
                  {}, SmallCatalog())
          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("needs one source of unknowns"));
}

TEST(ResolveTask, TestsNeedNoTrainingImages) {
  const std::string text = "split { known: [3, 0] } test_only: true";
  const TaskData data = Resolve(text);
  EXPECT_THAT(data.train().class_id(), ElementsAre(3, 0));
  EXPECT_EQ(data.train().part(), "test");
  TaskRequest request;
  request.validation_per_class = 1;
  EXPECT_EQ(ResolveTask(Parse(text), request, SmallCatalog()).status(),
            absl::InvalidArgumentError(
                "validation_per_class: the task has no training samples (test_only) and no validation_part"));
}

TEST(ResolveTask, ScoresAreFittedToThePartThatIsNamed) {
  const TaskData data = Resolve("split { known: [3, 0] } test_only: true fit_part: 'train'");
  EXPECT_EQ(data.train().part(), "train");
  EXPECT_EQ(data.test_known().part(), "test");
}

// Four's training part stands for a validation part, of which three samples of each known class are used.
TEST(ResolveTask, ATaskWithoutTrainingSearchesOnItsValidationPart) {
  const std::string text =
      "split { known: [3, 0] } test_only: true validation_part: 'train' "
      "external { data_set: 'three' part: 'none' validation_part: 'train' class_id: 2 }";
  const TaskData plain = Resolve(text);
  EXPECT_FALSE(plain.has_external());
  EXPECT_FALSE(plain.has_validation_known());
  TaskRequest request;
  request.validation_per_class = 3;
  const TaskData data = Resolve(text, request);
  EXPECT_FALSE(data.has_external());
  EXPECT_EQ(data.validation_known().part(), "train");
  EXPECT_EQ(*CountSamples(data.validation_known(), SmallCatalog()), 2 * 3);
  ASSERT_EQ(data.validation_unknown_size(), 1);
  EXPECT_EQ(data.validation_unknown(0).selection().data_set(), "three");
  EXPECT_THAT(data.validation_unknown(0).selection().class_id(), ElementsAre(2));
  EXPECT_EQ(*CountSamples(data.validation_unknown(0).selection(), SmallCatalog()), 3);
  EXPECT_EQ(data.test_known().part(), "test");
}

TEST(ResolveTask, ShiftedSamplesMayBeAsNetworksGetThem) {
  const std::string shifted = "split { known: [3, 1] } shifted { group: 'art' data_set: 'three' ";
  EXPECT_TRUE(Resolve(shifted + "as_stored: true }").test_shifted(0).selection().as_stored());
  EXPECT_FALSE(Resolve(shifted + "}").test_shifted(0).selection().has_as_stored());
}

TEST(ResolveTask, ShiftedSamplesHaveTheLabelsOfTheirNames) {
  const TaskData data = Resolve("split { known: [3, 1, 0] } shifted { group: 'art' data_set: 'three' }");
  ASSERT_EQ(data.test_shifted_size(), 1);
  EXPECT_EQ(data.test_shifted(0).name(), "art");
  const Selection& selection = data.test_shifted(0).selection();
  EXPECT_EQ(selection.part(), "test");
  EXPECT_THAT(selection.class_id(), ElementsAre(1, 0));
  EXPECT_THAT(selection.label(), ElementsAre(1, 2));
  // All known classes are there, so their positions are their labels.
  const TaskData whole = Resolve("split { known: [2, 1] } shifted { group: 'art' data_set: 'three' }");
  EXPECT_THAT(whole.test_shifted(0).selection().class_id(), ElementsAre(2, 1));
  EXPECT_THAT(whole.test_shifted(0).selection().label(), IsEmpty());
}

}  // namespace
}  // namespace openset
