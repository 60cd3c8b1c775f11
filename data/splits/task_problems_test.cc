#include "data/splits/task_problems.h"

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/testing/small_catalog.h"

namespace openset {
namespace {

// data/task_test.cc tests the problems of classes, parts and groups.
std::vector<std::string> Problems(const std::string& text) {
  const TaskSpec task = ParsedWithDefaults<TaskSpec>("name: 'task' data_set: 'four' " + text);
  std::vector<std::string> lines;
  for (const FieldProblem& problem : FindTaskProblems(task, SmallCatalog())) {
    lines.push_back(problem.path + ": " + problem.message);
  }
  return lines;
}

TEST(FindTaskProblems, SplitsAreListedOrDrawn) {
  EXPECT_THAT(Problems("split { known: 0 }"), IsEmpty());
  EXPECT_THAT(Problems("drawn { level { known: 2 unknown: 2 } }"), IsEmpty());
  EXPECT_THAT(Problems(""), ElementsAre("split: missing: list splits, or set `drawn`"));
  EXPECT_THAT(Problems("split { known: 0 } drawn { level { known: 2 unknown: 2 } }"),
              ElementsAre("drawn: splits are listed too: remove one of them"));
  EXPECT_THAT(Problems("drawn { level { known: 2 unknown: 2 } level { known: 2 unknown: 3 } }"),
              ElementsAre("drawn.level[1]: 2 known and 3 unknown classes can't be drawn: 'four' has 4 classes"));
  EXPECT_THAT(Problems("unknown { data_set: 'three' } drawn { levels: 5 }"),
              ElementsAre("drawn.levels: 5 are more than the 4 that are possible"));
}

TEST(FindTaskProblems, SourcesMayHaveClassesOfTheirOwn) {
  const std::string near = "unknown { group: 'near' data_set: 'four' class_id: [2] }";
  const std::string far = "unknown { group: 'far' data_set: 'three' class_id: [0, 2] }";
  EXPECT_THAT(Problems(near + far + "split { known: [0, 1] }"), IsEmpty());
  EXPECT_THAT(Problems(near + far + "split { known: [0, 2] }"),
              ElementsAre("split[0]: class 2 (class 2) is known, and unknown in unknown[0].class_id"));
  EXPECT_THAT(Problems("unknown { data_set: 'four' class_id: [3] } split { known: 0 unknown: 1 }"),
              ElementsAre("split[0].unknown: lists classes, and so does unknown[0].class_id"));
  EXPECT_THAT(Problems("unknown { data_set: 'three' class_id: [3, 1, 1] more_part: 'extra' } split { known: 0 }"),
              ElementsAre("unknown[0].more_part[0]: data set 'three': unknown part 'extra' (known: train, test)",
                          "unknown[0].class_id[0]: data set 'three' has no class 3 (0 to 2)",
                          "unknown[0].class_id[2]: class 1 (class 1) is listed twice"));
}

TEST(FindTaskProblems, CountsSplitsBeforeTheyAreDrawn) {
  EXPECT_THAT(
      Problems("drawn { level { known: 2 unknown: 2 } repeats: 1000000 } cross_validation { folds: 1000000 }"),
      ElementsAre("drawn: these are 1000000000000 splits, 1000000 folds of each counted; a task may have at most "
                  "1000000"));
  // Beyond the schema's limits; 2^32 would be 0 in 32 bits.
  EXPECT_THAT(Problems("drawn { level { known: 2 unknown: 2 } repeats: 65536 } cross_validation { folds: 65536 }"),
              ElementsAre("drawn: these are 4294967296 splits, 65536 folds of each counted; a task may have at most "
                          "1000000"));
  EXPECT_THAT(Problems("split { known: 0 } cross_validation { folds: 2147483647 }"),
              ElementsAre("cross_validation: these are 2147483647 splits, 2147483647 folds of each counted; a task may "
                          "have at most 1000000"));
  EXPECT_THAT(Problems("drawn { level { known: 1000000 unknown: 1000000 } repeats: 1000000 }"),
              ElementsAre("drawn: these are 2000000000000 classes in all splits together; a task may draw at most "
                          "100000000"));
}

TEST(FindTaskProblems, FoldsShareOnePool) {
  EXPECT_THAT(Problems("split { known: 0 } cross_validation { folds: 2 }"), IsEmpty());
  EXPECT_THAT(Problems("split { known: 0 } train_part: ['train', 'test'] cross_validation { folds: 2 }"),
              ElementsAre("data_set: part 'test' is used twice"));
  EXPECT_THAT(Problems("split { known: 0 } cross_validation { folds: 2 tuning_shares: 1 }"),
              ElementsAre("cross_validation.tuning_shares: must be 0 or at least 2 (is 1)"));
  EXPECT_THAT(Problems("split { known: 0 } cross_validation { folds: 2 on_tuning_share: true }"),
              ElementsAre("cross_validation.on_tuning_share: no share is set aside: set tuning_shares"));
}

TEST(FindTaskProblems, TestsNeedNoTrainingImages) {
  EXPECT_THAT(Problems("split { known: 0 } train_part: 'x'"),
              ElementsAre("train_part[0]: data set 'four': unknown part 'x' (known: train, test)"));
  EXPECT_THAT(Problems("split { known: 0 } test_only: true"), IsEmpty());
  EXPECT_THAT(Problems("split { known: 0 } test_only: true fit_part: 'train'"), IsEmpty());
  EXPECT_THAT(Problems("split { known: 0 } fit_part: 'train'"),
              ElementsAre("fit_part: is for tasks with test_only; scores are fitted to the training images"));
  EXPECT_THAT(Problems("split { known: 0 } test_only: true fit_part: 'test'"),
              ElementsAre("fit_part: is a part of the test images too"));
  EXPECT_THAT(Problems("split { known: 0 } test_only: true fit_part: 'none'"),
              ElementsAre("fit_part: data set 'four': unknown part 'none' (known: train, test)"));
  EXPECT_THAT(Problems("split { known: 0 } test_only: true fit_part: 'train' validation_part: 'train'"),
              ElementsAre("validation_part: is a part for training or testing too"));
  EXPECT_THAT(Problems("split { known: 0 } test_only: true train_part: 'train'"),
              ElementsAre("test_only: there are training images: remove it, or train_part and cross_validation"));
}

TEST(FindTaskProblems, KnownValidationSamplesAreOfAnotherPart) {
  EXPECT_THAT(Problems("split { known: 0 } train_part: 'train' test_part: 'train' validation_part: 'x'"),
              ElementsAre("test_part[0]: part 'train' is used twice",
                          "validation_part: data set 'four': unknown part 'x' (known: train, test)"));
  EXPECT_THAT(Problems("split { known: 0 } validation_part: 'test'"),
              ElementsAre("validation_part: is a part for training or testing too"));
  EXPECT_THAT(Problems("split { known: 0 } cross_validation { folds: 2 } validation_part: 'test'"),
              ElementsAre("validation_part: cross_validation has its own (tuning_shares)"));
}

TEST(FindTaskProblems, ShiftedSamplesAreOfKnownClasses) {
  const std::string shifted = "split { known: 3 } split { known: 1 } shifted { group: 'art' data_set: 'three' ";
  EXPECT_THAT(Problems(shifted + "}"),
              ElementsAre("shifted[0].data_set: no class of 'three' has the name of a known one of split 0"));
  EXPECT_THAT(Problems(shifted + "part: 'x' } shifted { group: 'art' data_set: 'no' }"),
              ElementsAre("shifted[0].part: data set 'three': unknown part 'x' (known: train, test)",
                          "shifted[1].data_set: unknown data set 'no' (known: bare, four, three)",
                          "shifted[1].group: 'art' is the name of another source too"));
}

}  // namespace
}  // namespace openset
