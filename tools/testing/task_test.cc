// `openset task`, through the program.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TaskSplits, DescribeSplitsAndWarnAboutRepeats) {
  const OpensetProgram program;
  const ProgramResult result = program.Run({"task", "splits", "cifar10_plus_10"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("task"));
  // 1 - sqrt(8 / 18) = 1/3; 1,000 unknown to 4,000 known test images.
  EXPECT_THAT(result.out,
              testing::ContainsRegex("cifar10_plus_10 +0 +4 +10 +0\\.3333 +20000 +4000 +1000 +0\\.250 +[0-9a-f]+"));
  EXPECT_EQ(result.err,
            "warning: cifar10_plus_10: split 2 has the same known classes as split 1 and 9 of its 10 unknown ones: "
            "together they are one draw, not two\n");
  EXPECT_EQ(program.Run({"task", "splits", "cifar10_plus_10_distinct"}).err, "");
  // In the order of the task's file.
  EXPECT_THAT(program.Run({"task", "splits", "fashion_mnist_6_4"}).out,
              testing::ContainsRegex("outputs of a network for each split:\nsplit 0: output 0 = [^,]+, output 1 = "));
  EXPECT_THAT(program.Run({"task", "splits", "openood_imagenet_1k"}).out, HasSubstr(", ..., output 999 = "));
  // With images that scores are fitted to.
  EXPECT_THAT(
      program.Run({"task", "splits", "openood_imagenet_1k"}).out,
      testing::ContainsRegex("openood_imagenet_1k +0 +1000 +5 +0\\.0012 +50000 +45000 +85908 +1\\.909 +[0-9a-f]+"));
}

TEST(Score, FitsToThePartThatIsNamed) {
  const OpensetProgram program;
  program.Write("net.safetensors", "");
  for (const auto& [task, part, problem] :
       {std::tuple("cifar10", "train", "--fit_part: task cifar10 has no fit_part to replace"),
        {"openood_imagenet_1k", "no",
         "--fit_part: data set 'imagenet': unknown part 'no' (known: train, train_50, val, "},
        {"openood_imagenet_1k", "openood_test", "--fit_part: is a part of the test images too"},
        {"openood_imagenet_1k", "train", "net.safetensors"}}) {  // the part is right, the file is not
    const ProgramResult result = program.Run({"score", "--model=net.safetensors", "--network=resnet18", "--split=0",
                                              std::string("--task=") + task, std::string("--fit_part=") + part});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(problem));
    if (absl::StartsWith(problem, "--fit_part")) {
      EXPECT_THAT(program.Run({"task", "samples", task, std::string("--fit_part=") + part}).err, HasSubstr(problem));
    }
  }
}

TEST(Plan, ShowsTheSplitsOfTheStudyAndTheirRepeats) {
  const OpensetProgram program;
  const std::string spec = "name: 'a' method: 'mcp' seed: [0, 1] metric { auroc {} } task: 'cifar10' ";
  program.Write("a.textproto", spec + "split: [0, 1]");
  const ProgramResult both = program.Run({"plan", "a.textproto", "--noprobe"});
  EXPECT_EQ(both.exit_code, 0) << both.err;
  EXPECT_THAT(both.out, testing::ContainsRegex("cifar10 +1 +6 +4 +0\\.1340 +30000 +6000 +4000 +0\\.667 +[0-9a-f]+"));
  EXPECT_THAT(both.err, HasSubstr("warning: cifar10: split 1 has the same known classes as split 0"));
  // Three splits are two draws, which are too few for a test.
  program.Write("a.textproto", spec + "method: 'openauc' split: [0, 1, 2]");
  EXPECT_THAT(program.Run({"plan", "a.textproto", "--noprobe"}).out,
              HasSubstr("cifar10: 2 splits: methods will not be tested"));
  EXPECT_THAT(program.Run({"report", "a.textproto", "--store=none"}).err, HasSubstr("there is no store"));
  program.Write("a.textproto", spec + "split: [1, 2]");
  EXPECT_EQ(program.Run({"plan", "a.textproto", "--noprobe"}).err, "");
}

// What a paired test over five splits finds at Holm's first level of three, and that two splits are too few for one.
TEST(Plan, SaysWhatItsTestsCanFind) {
  const OpensetProgram program;
  EXPECT_THAT(
      program.Run({"plan", "quickstart", "--noprobe"}).out,
      HasSubstr("Tests against the baseline\n  fashion_mnist_6_4: 5 splits, 3 tests a metric: if the difference "
                "of two methods varies by 1 point"));
  EXPECT_THAT(program.Run({"plan", "openauc_lambda_small", "--noprobe"}).out,
              HasSubstr("fashion_mnist_6_4: 2 splits: methods will not be tested; a test needs at least 3 splits"));
}

// 40 of 4,000 images of four classes are drawn, then at most 8 of each class are taken: 32, unless one has fewer. The
// plan counts what the run tests.
TEST(Plan, CountsTheSamplesThatAreTested) {
  const OpensetProgram program;
  const auto write = [&program](const std::string& data_set) {
    program.Write("tasks/drawn.textproto",
                  "name: 'drawn' data_set: 'fashion_mnist' split { known: [0, 1, 2, 5] } unknown { data_set: '" +
                      data_set + "' class_id: [3, 4, 6, 7] draw_samples: 40 }");
  };
  program.Write(
      "study.textproto",
      "name: 'study' task: 'drawn' method: 'mcp' split: 0 seed: 0 train_limit_per_class: 50 "
      "test_limit_per_class: 8 metric { auroc {} } override { model { osrci_cnn {} head { linear { bias: true } } } "
      "input { size: 28 channels: 1 mean: 0.286 std: 0.353 } training { epochs: 1 batch_size: 50 } }");
  write("fashion_mnist");
  const ProgramResult plan = program.Run({"plan", "study.textproto", "--noprobe"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, Not(HasSubstr("at most")));
  const ProgramResult run = program.Run({"run", "study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const int64_t tested = program.AnyRecord().counts().unknown();
  EXPECT_LE(tested, 32);
  EXPECT_THAT(plan.out, testing::ContainsRegex("drawn +0 +4 +4 +0\\.[0-9]+ +200 +32 +" + std::to_string(tested) + " "));
  // If the data is missing, the plan says why the number is not exact.
  write("mnist");
  EXPECT_THAT(program.Run({"plan", "study.textproto", "--noprobe"}).out,
              HasSubstr("at most 32 (drawn, then limited per class; the data is not here)"));
}

class NewTaskTest : public ::testing::Test {
 protected:
  ProgramResult New(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"task", "new"});
    return program_.Run(arguments);
  }

  const OpensetProgram program_;
};

// Drawn classes of the data set itself, and complete data sets: 2 of its classes, 10 digits, 1 kind of noise.
TEST_F(NewTaskTest, HasNearAndFarSets) {
  const ProgramResult result = New({"mixed", "--data=fashion_mnist", "--known=4", "--unknown=2", "--near=mnist",
                                    "--far=uniform_noise", "--splits=2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string task = program_.Read("tasks/mixed.textproto");
  EXPECT_THAT(task,
              HasSubstr("unknown {\n  group: \"fashion_mnist\"\n  data_set: \"fashion_mnist\"\n  distance: NEAR\n}"));
  EXPECT_THAT(task, HasSubstr("unknown {\n  group: \"mnist\"\n  data_set: \"mnist\"\n  distance: NEAR\n}"));
  EXPECT_THAT(task, HasSubstr("distance: FAR"));
  const ProgramResult splits = program_.Run({"task", "splits", "mixed", "--library=."});
  EXPECT_EQ(splits.exit_code, 0) << splits.err;
  // 2,000 images of its own and 10,000 digits among the unknown ones.
  EXPECT_THAT(splits.out, testing::ContainsRegex("mixed +1 +4 +13 +0\\.[0-9]+ +24000 +4000 +[0-9]+ "));
  // Only other data sets: the classes that are not known are not tested.
  ASSERT_EQ(New({"whole", "--data=fashion_mnist", "--known=10", "--far=mnist", "--splits=1"}).exit_code, 0);
  EXPECT_THAT(program_.Run({"task", "splits", "whole", "--library=."}).out,
              testing::ContainsRegex("whole +0 +10 +10 +0\\.[0-9]+ +60000 +10000 +10000 "));
  ASSERT_EQ(New({"named", "--data=fashion_mnist", "--known=Bag,Dress", "--far=mnist", "--splits=1"}).exit_code, 0);
  EXPECT_THAT(program_.Run({"task", "splits", "named", "--library=."}).out,
              testing::ContainsRegex("named +0 +2 +10 +0\\.[0-9]+ +12000 +2000 +10000 "));
  const ProgramResult wrong = New({"wrong", "--data=fashion_mnist", "--known=4", "--far=mnits"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--far: unknown data set 'mnits'; did you mean 'mnist'?"));
  EXPECT_THAT(New({"eleven", "--data=fashion_mnist", "--known=11", "--far=mnist"}).err,
              HasSubstr("--known: must be 1 to 10 of the 10 classes (is 11)"));
}

// Complete data sets of several sources, and classes that are drawn for each split: 2 of 10, 10 digits, 1 kind of
// noise.
TEST_F(NewTaskTest, CombinesSourcesWithDrawnClasses) {
  const ProgramResult result = New({"several", "--data=fashion_mnist", "--known=4", "--unknown=2",
                                    "--far=mnist,uniform_noise", "--splits=3", "--seed=5"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string task = program_.Read("tasks/several.textproto");
  EXPECT_THAT(task, testing::AllOf(HasSubstr("drawn {\n  seed: 5\n  level {\n    known: 4\n    unknown: 2\n  }"),
                                   HasSubstr("group: \"mnist\"\n  data_set: \"mnist\"\n  distance: FAR"),
                                   HasSubstr("data_set: \"uniform_noise\"\n  distance: FAR")));
  const std::string splits = program_.Run({"task", "splits", "several", "--library=."}).out;
  for (int split = 0; split < 3; ++split) {
    EXPECT_THAT(splits, testing::ContainsRegex("several +" + std::to_string(split) + " +4 +13 "));
  }
}

TEST_F(NewTaskTest, DrawsClasses) {
  const ProgramResult result =
      New({"mine", "--data=fashion_mnist", "--known=6", "--unknown=4", "--splits=3", "--seed=7"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              testing::ContainsRegex("split 2: known: .*\nopenness 0\\.13397.*\n.*tasks/mine\\.textproto\n"));
  EXPECT_EQ(
      program_.Read("tasks/mine.textproto"),
      "# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n"
      "name: \"mine\"\ndata_set: \"fashion_mnist\"\ndrawn {\n  seed: 7\n  level {\n    known: 6\n    unknown: 4\n  }\n"
      "  repeats: 3\n}\n");
  const std::string splits = program_.Run({"task", "splits", "mine", "--library=."}).out;
  EXPECT_THAT(splits, testing::ContainsRegex("mine +2 +6 +4 +0\\.1340 +36000 +6000 +4000 +0\\.667"));
  EXPECT_THAT(splits, Not(testing::ContainsRegex("mine +3")));
  // The same seed, the same splits, whatever the task is called; another seed, others.
  EXPECT_EQ(New({"same", "--data=fashion_mnist", "--known=6", "--splits=3", "--seed=7"}).exit_code, 0);
  EXPECT_EQ(New({"other", "--data=fashion_mnist", "--known=6", "--splits=3"}).exit_code, 0);
  const auto hash = [&](const std::string& name) {
    const std::string out = program_.Run({"task", "splits", name, "--library=."}).out;
    return out.substr(out.rfind(' ') + 1);
  };
  EXPECT_EQ(hash("same"), hash("mine"));
  EXPECT_NE(hash("other"), hash("mine"));
}

// 9 of 10 classes are known: five draws of them repeat one more often than not.
TEST_F(NewTaskTest, DrawsUntilNoSplitRepeatsAnother) {
  std::string repeated;
  for (int seed = 0; repeated.empty(); ++seed) {
    ASSERT_LT(seed, 20);
    const ProgramResult given = New({"given" + std::to_string(seed), "--data=fashion_mnist", "--known=9", "--splits=5",
                                     "--seed=" + std::to_string(seed)});
    EXPECT_EQ(given.exit_code, 0) << given.err;
    repeated = given.err;
  }
  EXPECT_THAT(repeated, testing::ContainsRegex("warning: given[0-9]+: split [1-4] has the same known classes as split "
                                               "[0-3] and the same unknown ones: together they are one draw, not two"));
  EXPECT_EQ(New({"five", "--data=fashion_mnist", "--known=9", "--splits=5"}).err, "");
  EXPECT_EQ(program_.Run({"task", "splits", "five", "--library=."}).err, "");
  // There are ten such sets.
  EXPECT_THAT(New({"eleven", "--data=fashion_mnist", "--known=9", "--splits=11"}).err,
              HasSubstr("together they are one draw, not two"));
}

TEST_F(NewTaskTest, ListedClassesAndFolds) {
  program_.Write("known.txt", "# two of them\nDress\n\nBag\n");
  const ProgramResult result = New({"folds", "--data=fashion_mnist", "--known=@known.txt", "--splits=1", "--folds=5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // 70,000 images of ten classes: 1,400 of each in a fold.
  EXPECT_THAT(program_.Run({"task", "splits", "folds", "--library=."}).out,
              testing::ContainsRegex("folds +4 +2 +8 +0\\.4226 +11200 +2800 +11200 +4\\.000"));
  EXPECT_EQ(New({"two", "--data=fashion_mnist", "--known=Dress,8", "--unknown=Coat,Shirt", "--splits=1"}).exit_code, 0);
  EXPECT_THAT(
      program_.Read("tasks/two.textproto"),
      HasSubstr("split {\n  known: 3  # Dress\n  known: 8  # Bag\n  unknown: 4  # Coat\n  unknown: 6  # Shirt\n}\n"));
  EXPECT_THAT(New({"five", "--data=fashion_mnist", "--known=Dress,Bag", "--splits=2"}).err,
              HasSubstr("hint: the splits have the same classes, and differ only in the order of the unknown ones"));
  EXPECT_EQ(New({"six", "--data=fashion_mnist", "--known=6", "--splits=2"}).err, "");
  EXPECT_THAT(program_.Run({"task", "splits", "five", "--library=."}).err,
              HasSubstr("warning: five: split 1 has the same known classes as split 0 and the same unknown ones"));
}

TEST_F(NewTaskTest, ByOpenness) {
  // 1 - sqrt(12 / 16) = 0.134: 4 unknown classes are nearest to 0.13.
  EXPECT_EQ(New({"open", "--data=fashion_mnist", "--known=6", "--openness=0.13"}).exit_code, 0);
  EXPECT_THAT(program_.Read("tasks/open.textproto"), HasSubstr("known: 6\n    unknown: 4\n"));
}

TEST_F(NewTaskTest, LikeAnotherTask) {
  EXPECT_EQ(New({"real", "--like=cifar10_plus_10", "--known=cat,dog", "--splits=1"}).exit_code, 0);
  const std::string text = program_.Read("tasks/real.textproto");
  EXPECT_THAT(text, HasSubstr("data_set: \"cifar100\""));
  EXPECT_THAT(text, HasSubstr("split {\n  known: 3  # cat\n  known: 5  # dog\n}\n"));
}

TEST_F(NewTaskTest, RefusesImpossibleRequests) {
  const auto error = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "bad");
    const ProgramResult result = New(flags);
    EXPECT_EQ(result.exit_code, 2);
    return result.err;
  };
  EXPECT_THAT(error({}), HasSubstr("--data: name a data set, or a folder of images"));
  EXPECT_THAT(error({"--data=fashion_mist", "--known=6"}), HasSubstr("did you mean 'fashion_mnist'?"));
  EXPECT_THAT(error({"--data=mnist"}), HasSubstr("--known: give the known classes by name (cat,dog)"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=Dres,Bag"}), HasSubstr("did you mean 'Dress'?"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=10"}), HasSubstr("--known: must be 1 to 9 of the 10 classes"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=6", "--unknown=5"}),
              HasSubstr("6 known and 5 unknown classes can't be drawn: 'fashion_mnist' has 10 classes"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=6", "--openness=1.5"}),
              HasSubstr("--openness: must lie between 0 and 1"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=@none.txt"}), HasSubstr("none.txt"));
  EXPECT_THAT(error({"--data=fashion_mnist", "--known=Bag,Bag"}), HasSubstr("class 8 (Bag) is listed twice"));
  EXPECT_THAT(program_.Run({"task", "neu", "x"}).err, HasSubstr("did you mean 'new'?"));
  EXPECT_THAT(program_.Run({"task", "new"}).err, HasSubstr("new: takes one argument, a task's name"));
}

}  // namespace
}  // namespace openset
