#include "data/task.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/openness.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/sets/data_set_parts.h"
#include "data/testing/damage.h"
#include "data/testing/small_catalog.h"

namespace openset {
namespace {

constexpr char kTaskFolder[] = "data/tasks";

TaskSpec Parse(const std::string& text) { return ParsedWithDefaults<TaskSpec>("name: 'task' " + text); }

std::vector<std::string> Problems(const std::string& text) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindTaskProblems(Parse(text), SmallCatalog()))
    lines.push_back(p.path + ": " + p.message);
  return lines;
}

absl::StatusOr<TaskData> Resolve(const std::string& text, const TaskRequest& request = {}) {
  return ResolveTask(Parse(text), request, SmallCatalog());
}

TEST(FindTaskProblems, NamesClasses) {
  EXPECT_THAT(Problems("data_set: 'four' split { known: [2, 0] unknown: [1, 3] } split { known: 1 }"), IsEmpty());
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 } split { known: [0, 4, 0] unknown: [1, 0, 1] }"),
              ElementsAre("split[1].known[1]: data set 'four' has no class 4 (0 to 3)",
                          "split[1].known[2]: class 0 (class 0) is listed twice",
                          "split[1].unknown[2]: class 1 (class 1) is listed twice",
                          "split[1].unknown[1]: class 0 (class 0) is both known and unknown"));
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 unknown: 3 } unknown { data_set: 'three' }"),
              ElementsAre("split[0].unknown[0]: data set 'three' has no class 3 (0 to 2)"));
  // A class with the same id in another data set is another class.
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 unknown: 0 } unknown { data_set: 'three' }"), IsEmpty());
}

TEST(FindTaskProblems, NamesDataSetsPartsAndGroups) {
  EXPECT_THAT(Problems("data_set: 'five' split { known: 9 }"),
              ElementsAre("data_set: unknown data set 'five' (known: bare, four, three)"));
  EXPECT_THAT(Problems("data_set: 'bare' split { known: 0 }"),
              ElementsAre("data_set: data set 'bare': unknown part 'test' (known: train)"));
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 } unknown { data_set: 'three' part: 'tests' }"
                       "unknown { data_set: 'there' }"),
              ElementsAre("unknown[0].part: data set 'three': unknown part 'tests'; did you mean 'test'? "
                          "(known: train, test)",
                          "unknown[1].data_set: unknown data set 'there'; did you mean 'three'? "
                          "(known: bare, four, three)",
                          "unknown[1].group: 'unknown' is the name of another source too"));
}

TEST(FindTaskProblems, ListsOfClassesAreOfTheFirstSource) {
  const std::string two_sources =
      "data_set: 'four' unknown { data_set: 'four' group: 'near' }"
      "unknown { data_set: 'three' group: 'far' }";
  EXPECT_THAT(Problems(two_sources + "split { known: 0 }"), IsEmpty());
  // The list applies to the first source; the other one uses all its classes.
  EXPECT_THAT(Problems(two_sources + "split { known: 0 unknown: 1 }"), IsEmpty());
  ASSERT_OK_AND_ASSIGN(const TaskData data, Resolve(two_sources + "split { known: 0 unknown: 1 }", {}));
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(1));
  EXPECT_THAT(data.test_unknown(1).selection().class_id(), ElementsAre(0, 1, 2));
  EXPECT_THAT(Problems(two_sources + "split { known: [0, 1, 2, 3] }"),
              ElementsAre("split[0]: leaves no class for unknown[0], as all are known"));
}

TEST(ResolveTask, SelectsKnownAndRemainingClasses) {
  ASSERT_OK_AND_ASSIGN(const TaskData data,
                       Resolve("data_set: 'four' split { known: 0 } split { known: [3, 1] }", {/*split=*/1}));
  EXPECT_EQ(data.train().data_set(), "four");
  EXPECT_EQ(data.train().part(), "train");
  EXPECT_THAT(data.train().class_id(), ElementsAre(3, 1));
  EXPECT_EQ(data.train().limit_per_class(), 0);
  EXPECT_EQ(data.train().part_digest(), *PartDigest(**SmallCatalog().Find("four"), "train"));
  EXPECT_EQ(data.test_known().part(), "test");
  EXPECT_THAT(data.test_known().class_id(), ElementsAre(3, 1));
  EXPECT_EQ(data.test_known().part_digest(), *PartDigest(**SmallCatalog().Find("four"), "test"));
  ASSERT_EQ(data.test_unknown_size(), 1);
  EXPECT_EQ(data.test_unknown(0).name(), "unknown");
  EXPECT_EQ(data.test_unknown(0).selection().data_set(), "four");
  EXPECT_EQ(data.test_unknown(0).selection().part(), "test");
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(0, 2));
  EXPECT_EQ(*CountSamples(data.train(), SmallCatalog()), 2 * 10);
  // The result obeys the schema's rules.
  EXPECT_THAT(FindProblems(data), IsEmpty());
}

// Class b has 2 images to train and none to test on, class c has 1 to test on.
TEST(ResolveTask, NamesClassesWithoutImages) {
  DataSetInfo info;
  info.set_name("few");
  for (const char* name : {"a", "b", "c", "d"}) info.add_class_name(name);
  const auto add = [&](const char* name, const std::vector<int>& samples) {
    DataSetPart* part = (info.layout_size() == 0 ? info.add_layout() : info.mutable_layout(0))->add_part();
    part->set_name(name);
    for (const int count : samples) part->add_samples_per_class(count);
  };
  add("train", {9, 2, 0, 9});
  add("test", {9, 0, 1, 9});
  const Catalog catalog({info});
  const auto problem = [&](const std::string& text, const TaskRequest& request = {}) {
    return std::string(ResolveTask(Parse("data_set: 'few' " + text), request, catalog).status().message());
  };
  const auto training_problem = [&](const std::string& text) {
    const absl::StatusOr<TaskData> data = ResolveTask(Parse("data_set: 'few' " + text), {}, catalog);
    EXPECT_TRUE(data.ok()) << data.status();
    return std::string(CheckTrainingSamples(*data, 0, /*with_external=*/true, catalog).message());
  };
  EXPECT_EQ(problem("split { known: [0, 1] unknown: [3] }"),
            "split 0: known class b has no image to test on in 'test' of data set 'few': leave it out (known: a), or "
            "add images");
  EXPECT_EQ(problem("split { known: [2, 0] unknown: [3] }"), "");
  EXPECT_EQ(training_problem("split { known: [2, 0] unknown: [3] }"),
            "split 0: known class c has no image to train on in 'train' of data set 'few': leave it out (known: a), or "
            "add images");
  EXPECT_EQ(problem("split { known: [0] }"),
            "split 0: unknown class b has no image to test on in 'test' of data set 'few': leave it out (unknown: c, "
            "d), or add images");
  EXPECT_EQ(problem("split { known: [0] unknown: [2, 3] }"), "");
  EXPECT_EQ(training_problem("external { data_set: 'few' class_id: [1, 2] } split { known: [0] unknown: [3] }"),
            "split 0: external class c has no image to train on in 'train' of data set 'few': leave it out "
            "(external.class_id: b), or add images");
  // 2 images in 3 folds: the last fold tests none of them.
  const std::string folds = "cross_validation { folds: 3 } split { known: [0, 3] unknown: [1] }";
  EXPECT_EQ(problem(folds), "");
  TaskRequest last;
  last.split = 2;
  EXPECT_EQ(problem(folds, last),
            "split 2: unknown class b has no image to test on in 'train', 'test' of data set 'few' (2 images in 3 "
            "folds): leave it out (unknown: ...), use fewer folds, or add images");
  // A draw takes what there is.
  EXPECT_EQ(problem("unknown { data_set: 'few' class_id: [1, 3] draw_samples: 4 } split { known: [0] }"), "");
}

TEST(ResolveTask, AcceptsPartsOfAnyName) {
  ASSERT_OK_AND_ASSIGN(const TaskData data,
                       Resolve("data_set: 'four' train_part: 'test' test_part: 'train' split { known: [2, 0] }"));
  EXPECT_EQ(data.train().part(), "test");
  EXPECT_EQ(data.test_known().part(), "train");
  EXPECT_EQ(data.test_unknown(0).selection().part(), "train");
  EXPECT_EQ(data.train().more_size(), 0);

  const absl::StatusOr<TaskData> both =
      Resolve("data_set: 'bare' train_part: 'train' test_part: ['train', 'test', 'no'] split { known: 0 }");
  EXPECT_EQ(both.status(),
            absl::InvalidArgumentError("test_part[0]: part 'train' is used twice\n"
                                       "test_part[1]: data set 'bare': unknown part 'test' (known: train)\n"
                                       "test_part[2]: data set 'bare': unknown part 'no' (known: train)"));
}

TEST(ResolveTask, ConcatenatesParts) {
  DataSetInfo info;
  info.set_name("three parts");
  info.add_class_name("a");
  info.add_class_name("b");
  for (const char* name : {"one", "two", "three"}) {
    DataSetPart* part = (info.layout_size() == 0 ? info.add_layout() : info.mutable_layout(0))->add_part();
    part->set_name(name);
    part->set_samples(20);
    part->add_samples_per_class(10);
  }
  const Catalog catalog({info});
  TaskRequest request;
  request.validation_per_class = 15;
  const absl::StatusOr<TaskData> data =
      ResolveTask(Parse("data_set: 'three parts' train_part: ['three', 'one'] test_part: 'two' split { known: 1 }"),
                  request, catalog);
  ASSERT_TRUE(data.ok()) << data.status();  // 20 samples of the class, 15 of them for validation
  EXPECT_EQ(data->train().part(), "three");
  ASSERT_EQ(data->train().more_size(), 1);
  EXPECT_EQ(data->train().more(0).part(), "one");
  EXPECT_EQ(data->train().more(0).part_digest(), *PartDigest(info, "one"));
  EXPECT_EQ(*CountSamples(data->train(), catalog), 5);
  EXPECT_EQ(*CountSamples(data->validation_known(), catalog), 15);
  TaskData stale = *data;
  stale.mutable_train()->mutable_more(0)->set_part_digest("other");
  EXPECT_EQ(CountSamples(stale.train(), catalog).status(),
            absl::DataLossError(
                "part 'one' of data set 'three parts' has changed since the study was planned, in its files or "
                "in the catalog; put the old files back, or run the same command again to measure the changed "
                "data"));
}

TEST(ResolveTask, TakesTheFirstClassesAndSamples) {
  ASSERT_OK_AND_ASSIGN(const TaskData data, Resolve("data_set: 'four' split { known: 1 unknown: [3, 0, 2] }",
                                                    {0, /*unknown_classes=*/2, 4, 3}));
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(3, 0));
  EXPECT_EQ(data.train().limit_per_class(), 4);
  EXPECT_EQ(data.test_known().limit_per_class(), 3);
  EXPECT_EQ(data.test_unknown(0).selection().limit_per_class(), 3);
  EXPECT_EQ(*CountSamples(data.test_unknown(0).selection(), SmallCatalog()), 2 * 3);
}

TEST(ResolveTask, KeepsSamplesForValidation) {
  TaskRequest request;
  request.train_limit_per_class = 5;
  request.validation_per_class = 2;
  const std::string task = "data_set: 'four' split { known: [1, 0] } ";
  absl::StatusOr<TaskData> data = Resolve(task + "external { data_set: 'three' class_id: [2, 0] }", request);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train().without_last_per_class(), 2);
  EXPECT_EQ(data->train().limit_per_class(), 5);
  EXPECT_EQ(data->validation_known().part(), "train");
  EXPECT_EQ(data->validation_known().only_last_per_class(), 2);
  EXPECT_EQ(data->validation_known().limit_per_class(), 0);
  EXPECT_THAT(data->validation_known().class_id(), ElementsAre(1, 0));
  EXPECT_EQ(data->external().part(), "train");
  EXPECT_THAT(data->external().class_id(), ElementsAre(2, 0));
  ASSERT_EQ(data->validation_unknown_size(), 1);
  EXPECT_EQ(data->validation_unknown(0).name(), "external");
  EXPECT_EQ(data->validation_unknown(0).selection().part(), "test");
  EXPECT_EQ(data->validation_unknown(0).selection().limit_per_class(), 2);
  // All of the data set, with nothing left out for validation.
  data = Resolve(task + "external { data_set: 'three' }");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(data->external().class_id(), ElementsAre(0, 1, 2));
  EXPECT_EQ(data->train().without_last_per_class(), 0);
  EXPECT_FALSE(data->has_validation_known());
  EXPECT_EQ(data->validation_unknown_size(), 0);
}

TEST(ResolveTask, KeepsExternalSamplesOfOnePartForValidation) {
  TaskRequest request;
  request.validation_per_class = 2;
  const std::string task =
      "data_set: 'four' split { known: [1, 0] } external { data_set: 'three' validation_part: 'train' class_id: 2 }";
  ASSERT_OK_AND_ASSIGN(const TaskData data, Resolve(task, request));
  EXPECT_EQ(data.external().without_last_per_class(), 2);
  const Selection& kept = data.validation_unknown(0).selection();
  EXPECT_EQ(kept.part(), "train");
  EXPECT_EQ(kept.only_last_per_class(), 2);
  EXPECT_EQ(kept.limit_per_class(), 0);
  EXPECT_THAT(kept.class_id(), ElementsAre(2));
  EXPECT_EQ(Resolve(task)->external().without_last_per_class(), 0);
}

TEST(ResolveTask, LeavesSamplesToTrainWith) {
  TaskRequest request;
  request.validation_per_class = 9;
  EXPECT_TRUE(Resolve("data_set: 'four' split { known: [1, 0] }", request).ok());
  request.validation_per_class = 10;
  EXPECT_EQ(Resolve("data_set: 'four' split { known: [1, 0] }", request).status(),
            absl::InvalidArgumentError("validation_per_class: keeps 10 samples of each class, and 'four' has 10 "
                                       "training samples of class 1 (class 1)"));
}

TEST(FindTaskProblems, ExternalClassesAreNeitherKnownNorUnknown) {
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 unknown: 1 } external { data_set: 'four' class_id: [2, 3] }"),
              IsEmpty());
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 unknown: 1 } external { data_set: 'four' class_id: [3, 1] }"),
              ElementsAre("split[0]: class 1 (class 1) is external too; list others in external.class_id"));
  EXPECT_THAT(Problems("data_set: 'four' split { known: 2 } external { data_set: 'four' class_id: 2 }"),
              ElementsAre("split[0]: class 2 (class 2) is external too; list others in external.class_id"));
  EXPECT_THAT(Problems("data_set: 'four' split { known: 0 } external { data_set: 'bare' class_id: 2 }"),
              ElementsAre("external.validation_part: data set 'bare': unknown part 'test' (known: train)",
                          "external.class_id[0]: data set 'bare' has no class 2 (0 to 1)"));
}

TEST(ResolveTask, MakesAGroupOfEachSource) {
  const std::string task =
      "data_set: 'four' split { known: [0, 1] } unknown { data_set: 'four' group: 'near' }"
      "unknown { data_set: 'three' group: 'far' part: 'train' }";
  ASSERT_OK_AND_ASSIGN(const TaskData data, Resolve(task));
  ASSERT_EQ(data.test_unknown_size(), 2);
  EXPECT_EQ(data.test_unknown(0).name(), "near");
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(2, 3));
  EXPECT_EQ(data.test_unknown(1).name(), "far");
  EXPECT_EQ(data.test_unknown(1).selection().part(), "train");
  EXPECT_THAT(data.test_unknown(1).selection().class_id(), ElementsAre(0, 1, 2));
  EXPECT_DOUBLE_EQ(Openness(data), Openness(2, 2 + 3));
  EXPECT_EQ(
      Resolve(task, {0, 1}).status(),
      absl::InvalidArgumentError("unknown_classes: task 'task' has 2 sources of unknowns, of which all classes are "
                                 "used"));
}

TEST(ResolveTask, AClosedSetHasNoUnknowns) {
  ASSERT_OK_AND_ASSIGN(const TaskData data, Resolve("data_set: 'three' split { known: [0, 1, 2] }"));
  EXPECT_EQ(data.test_unknown_size(), 0);
  EXPECT_EQ(Openness(data), 0);
}

TEST(ResolveTask, NamesTheField) {
  const std::string task = "data_set: 'four' split { known: [0, 0] } split { known: [0, 1] }";
  EXPECT_EQ(Resolve(task).status(), absl::InvalidArgumentError("split[0].known[1]: class 0 (class 0) is listed twice"));
  EXPECT_TRUE(Resolve(task, {1}).ok());
  EXPECT_EQ(Resolve(task, {2}).status(), absl::InvalidArgumentError("split: task 'task' has no split 2 (0 to 1)"));
  EXPECT_TRUE(absl::IsInvalidArgument(Resolve(task, {-1}).status()));
  EXPECT_EQ(Resolve(task, {1, 3}).status(),
            absl::InvalidArgumentError("unknown_classes: 3 are more than the 2 of split 1 of task 'task'"));
  EXPECT_TRUE(absl::IsInvalidArgument(Resolve("data_set: 'five' split { known: 0 }").status()));
}

TEST(ReadTask, NamesFileAndLine) {
  const std::string path = WriteTestFile("bad.textproto",
                                         "name: 'bad'\ndata_set: 'four'\nsplit {\n  known: 0\n"
                                         "  known: 7\n}\n");
  EXPECT_EQ(ReadTask(path, SmallCatalog()).status(),
            absl::InvalidArgumentError(path + ":5: split[0].known[1]: data set 'four' has no class 7 (0 to 3)"));
  EXPECT_TRUE(absl::IsNotFound(ReadTask("/no/such/file", SmallCatalog()).status()));
}

// Ids and names are two ways to list the same classes.
TEST(ReadTask, FindsClassesByName) {
  const auto read = [](const std::string& text) {
    const std::string path = WriteTestFile("named.textproto", "name: 'named' data_set: 'four'\n" + text);
    return ReadTask(path, SmallCatalog());
  };
  const absl::StatusOr<TaskSpec> named = read("split { known_class: ['class 2', 'class 0'] unknown_class: 'class 3' }");
  const absl::StatusOr<TaskSpec> listed = read("split { known: [2, 0] unknown: 3 }");
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->DebugString(), listed->DebugString());
  EXPECT_TRUE(read("unknown { data_set: 'three' } split { known: 3 unknown_class: 'class 2' }").ok());
  const auto error = [&](const std::string& text) { return std::string(read(text).status().message()); };
  EXPECT_THAT(
      error("unknown { data_set: 'three' }\nsplit { known: 0 unknown_class: 'class 3' }"),
      testing::EndsWith("named.textproto:3: split[0].unknown_class[0]: data set 'three': unknown class 'class 3'; "
                        "did you mean 'class 0'? (known: class 0, class 1, class 2)"));
  EXPECT_THAT(
      error("split { known_class: 'class 0' known: 1 }"),
      testing::EndsWith("split[0].known_class: the classes are listed by their ids, too: remove one of the lists"));
  EXPECT_THAT(error("split { unknown: 1 }"),
              testing::EndsWith("split[0].known: missing: list the known classes, or name them in known_class"));
  EXPECT_THAT(error("split { known_class: ['class 1', 'class 1'] }"),
              testing::EndsWith("split[0].known[1]: class 1 (class 1) is listed twice"));
}

class TaskFolderTest : public ::testing::Test {
 protected:
  TaskSpec Find(const std::string& name) {
    const absl::StatusOr<TaskSpec> task = ReadTask(absl::StrCat(kTaskFolder, "/", name, ".textproto"), catalog_);
    EXPECT_TRUE(task.ok()) << task.status();
    if (task.ok()) {
      EXPECT_EQ(task->name(), name);
    }
    return task.value_or(TaskSpec());
  }
  // Returns the sizes of a split's known and unknown test sets.
  std::pair<int64_t, int64_t> TestSizes(const std::string& name, int split) {
    const TaskData data = *ResolveTask(Find(name), {split}, catalog_);
    return {*CountSamples(data.test_known(), catalog_), *CountSamples(data.test_unknown(0).selection(), catalog_)};
  }

  const Catalog catalog_ = *Catalog::Open("data/catalog");
};

TEST_F(TaskFolderTest, FashionMnistIsDrawnAsItsFileSays) {
  for (const auto& [name, splits] : {std::pair("fashion_mnist_6_4", 5), {"fashion_mnist_6_4_ten_splits", 10}}) {
    const TaskSpec task = Find(name);
    ASSERT_EQ(task.split_size(), splits);
    std::set<std::set<int>> known_sets;
    for (int i = 0; i < splits; ++i) {
      const std::vector<int64_t> order = RandomStream(0, absl::StrCat("fashion_mnist_6_4/split ", i)).Permutation(10);
      EXPECT_THAT(task.split(i).known(), ElementsAreArray(order.begin(), order.begin() + 6));
      EXPECT_THAT(task.split(i).unknown(), ElementsAreArray(order.begin() + 6, order.end()));
      known_sets.emplace(order.begin(), order.begin() + 6);
    }
    EXPECT_EQ(known_sets.size(), splits);
  }
  EXPECT_EQ(TestSizes("fashion_mnist_6_4", 0), std::make_pair(int64_t{6000}, int64_t{4000}));
}

// The sizes of the published test sets.
TEST_F(TaskFolderTest, PublishedTasksHaveTheirTestSets) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(TestSizes("cifar10", i), std::make_pair(int64_t{6000}, int64_t{4000}));
    EXPECT_EQ(TestSizes("cifar10_plus_10", i), std::make_pair(int64_t{4000}, int64_t{1000}));
    EXPECT_EQ(TestSizes("cifar10_plus_50", i), std::make_pair(int64_t{4000}, int64_t{5000}));
  }
  // MNIST's first split: classes 2, 4, 5, 9, 8, 3 of the 10,000 test images.
  const int64_t known = 1032 + 982 + 892 + 1009 + 974 + 1010;
  EXPECT_EQ(TestSizes("mnist", 0), std::make_pair(known, 10000 - known));
}

TEST_F(TaskFolderTest, NotesNameTheDuplicates) {
  for (const char* name : {"mnist", "fashion_mnist_6_4", "cifar10", "cifar10_plus_10", "cifar10_plus_50"}) {
    const TaskSpec task = Find(name);
    ASSERT_EQ(task.split_size(), 5) << name;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        const std::set<int> a(task.split(i).known().begin(), task.split(i).known().end());
        const std::set<int> b(task.split(j).known().begin(), task.split(j).known().end());
        if (i != j && a == b) {
          EXPECT_THAT(task.split(i).note(), HasSubstr(absl::StrCat("the same known classes as split ", j)));
        }
      }
    }
  }
  EXPECT_THAT(Find("cifar10").split(0).known(), ElementsAre(0, 6, 4, 9, 1, 7));
}

}  // namespace
}  // namespace openset
