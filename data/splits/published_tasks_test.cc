// Compares the tasks that openset includes with the published splits, item by item, and with the published numbers of
// samples.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/openness.h"
#include "core/random.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/formats/part_format.h"
#include "data/sets/data_set_parts.h"
#include "data/splits/class_splits.h"
#include "data/splits/repeated_splits.h"
#include "data/splits/split_digest.h"
#include "data/task.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using Ids = std::vector<int>;

const Catalog& TheCatalog() {
  static const auto* const catalog = new Catalog(*Catalog::Open("data/catalog"));
  return *catalog;
}

TaskSpec Task(const std::string& name) {
  const absl::StatusOr<TaskSpec> task = ReadTask(absl::StrCat("data/tasks/", name, ".textproto"), TheCatalog());
  EXPECT_TRUE(task.ok()) << task.status();
  return task.value_or(TaskSpec());
}

nlohmann::json Published(const std::string& file) {
  std::ifstream stream(absl::StrCat("data/tasks/testdata/", file, ".json"));
  return nlohmann::json::parse(stream);
}

Ids List(const google::protobuf::RepeatedField<int32_t>& ids) { return {ids.begin(), ids.end()}; }

TaskData Data(const TaskSpec& task, int split) {
  const absl::StatusOr<TaskData> data = ResolveTask(task, {split}, TheCatalog());
  EXPECT_TRUE(data.ok()) << task.name() << ": " << data.status();
  return data.value_or(TaskData());
}

// Returns the numbers of known and unknown test samples.
std::pair<int64_t, int64_t> TestSizes(const TaskData& data) {
  int64_t unknown = 0;
  for (const UnknownGroup& group : data.test_unknown()) unknown += *CountSamples(group.selection(), TheCatalog());
  return {*CountSamples(data.test_known(), TheCatalog()), unknown};
}

std::set<std::string> TaskNames() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("data/tasks")) {
    if (entry.path().extension() == ".textproto") names.insert(entry.path().stem().string());
  }
  return names;
}

// No sample is both known and unknown, or used both for training and testing: the classes are disjoint, or the parts
// and folds are.
TEST(Tasks, AllResolveDisjoint) {
  EXPECT_GE(TaskNames().size(), 30);
  for (const std::string& name : TaskNames()) {
    const TaskSpec task = Task(name);
    EXPECT_EQ(task.name(), name);
    EXPECT_FALSE(task.title().empty()) << name;
    ASSERT_GT(CountSplits(task), 0) << name;
    for (int s = 0; s < CountSplits(task); ++s) {
      const TaskData data = Data(task, s);
      const Ids known = List(data.train().class_id());
      EXPECT_THAT(data.test_known().class_id(), ElementsAreArray(known));
      for (const UnknownGroup& group : data.test_unknown()) {
        if (group.selection().data_set() != task.data_set()) continue;
        for (const int id : group.selection().class_id()) {
          EXPECT_EQ(std::count(known.begin(), known.end(), id), 0) << name << ", split " << s << ", class " << id;
        }
      }
      if (task.has_cross_validation()) {
        EXPECT_TRUE(data.train().fold().others());
        EXPECT_FALSE(data.test_known().fold().others());
      } else if (!task.test_only()) {
        EXPECT_NE(data.train().part(), data.test_known().part()) << name;
      }
    }
  }
}

// Expects the five published trials. Unless `classes` is 0, the known and unknown classes of each are `classes` in all.
void ExpectTrials(const std::string& task_name, const nlohmann::json& trials, int classes) {
  const TaskSpec task = Task(task_name);
  ASSERT_EQ(CountSplits(task), trials.size()) << task_name;
  for (int s = 0; s < CountSplits(task); ++s) {
    const TaskData data = Data(task, s);
    EXPECT_THAT(data.train().class_id(), ElementsAreArray(trials[s]["known"].get<Ids>()))
        << task_name << ", split " << s;
    ASSERT_EQ(data.test_unknown_size(), 1);
    EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAreArray(trials[s]["unknown"].get<Ids>()))
        << task_name << ", split " << s;
    if (classes == 0) continue;
    std::set<int> all;
    for (const char* role : {"known", "unknown"}) {
      for (const int id : trials[s][role].get<Ids>()) all.insert(id);
    }
    EXPECT_EQ(all.size(), classes);
  }
}

TEST(PublishedTasks, TheFiveTrialsAreTheReleasedOnes) {
  const nlohmann::json trials = Published("osr_splits")["trials"];
  ExpectTrials("mnist", trials["mnist"], 10);
  ExpectTrials("svhn", trials["svhn"], 10);
  ExpectTrials("tinyimagenet", trials["tinyimagenet"], 200);
  ExpectTrials("cifar10", trials["cifar10"], 10);
  ExpectTrials("cifar10_plus_10", trials["cifar_plus_10"], 0);
  ExpectTrials("cifar10_plus_50", trials["cifar_plus_50"], 0);
  const nlohmann::json neal = Published("osr_splits")["neal_2018"]["trials"];
  ExpectTrials("mnist_neal", neal, 10);
  ExpectTrials("svhn_neal", neal, 10);
  ExpectTrials("cifar10_neal", neal, 10);
}

TEST(PublishedTasks, HaveThePapersNumbersOfTestSamples) {
  for (int s = 0; s < 5; ++s) {
    EXPECT_EQ(TestSizes(Data(Task("cifar10"), s)), std::make_pair(int64_t{6000}, int64_t{4000}));
    EXPECT_EQ(TestSizes(Data(Task("cifar10_neal"), s)), std::make_pair(int64_t{6000}, int64_t{4000}));
    EXPECT_EQ(TestSizes(Data(Task("cifar10_plus_10"), s)), std::make_pair(int64_t{4000}, int64_t{1000}));
    EXPECT_EQ(TestSizes(Data(Task("cifar10_plus_50"), s)), std::make_pair(int64_t{4000}, int64_t{5000}));
    const auto [known, unknown] = TestSizes(Data(Task("mnist"), s));
    EXPECT_EQ(known + unknown, 10000);
    const auto [svhn_known, svhn_unknown] = TestSizes(Data(Task("svhn"), s));
    EXPECT_EQ(svhn_known + svhn_unknown, 26032);
    EXPECT_EQ(TestSizes(Data(Task("tinyimagenet"), s)), std::make_pair(int64_t{1000}, int64_t{9000}));
  }
  EXPECT_EQ(TestSizes(Data(Task("cifar10_plus_10_neal"), 0)), std::make_pair(int64_t{4000}, int64_t{1000}));
  EXPECT_EQ(TestSizes(Data(Task("cifar10_plus_50_neal"), 0)), std::make_pair(int64_t{4000}, int64_t{5000}));
}

TEST(PublishedTasks, NealsUnknownsAreAnimals) {
  const DataSetInfo& cifar100 = **TheCatalog().Find("cifar100");
  const nlohmann::json superclasses = Published("cifar_40_60")["superclasses"];
  std::set<std::string> animals;
  for (const char* name : {"aquatic_mammals", "fish", "insects", "large_carnivores", "large_omnivores_and_herbivores",
                           "medium_mammals", "non-insect_invertebrates", "people", "reptiles", "small_mammals"}) {
    for (const std::string& animal : superclasses[name].get<std::vector<std::string>>()) animals.insert(animal);
  }
  ASSERT_EQ(animals.size(), 50);
  for (const int n : {10, 50}) {
    const TaskData data = Data(Task(absl::StrCat("cifar10_plus_", n, "_neal")), 0);
    EXPECT_THAT(data.train().class_id(), ElementsAre(0, 1, 8, 9));
    std::vector<std::string> names;
    for (const int id : data.test_unknown(0).selection().class_id()) names.push_back(cifar100.class_name(id));
    EXPECT_THAT(names, ElementsAreArray(animals.begin(), std::next(animals.begin(), n)));
  }
}

TEST(PublishedTasks, RepeatedSplitsAreFound) {
  const auto repeats = [](const std::string& name) {
    std::vector<std::string> warnings;
    const std::vector<ClassSplit> splits = *ClassSplitsOf(Task(name), TheCatalog());
    for (const RepeatedSplit& repeated : FindRepeatedSplits(splits)) {
      warnings.push_back(absl::StrCat(repeated.split, " ", repeated.earlier, ": ", repeated.unknown_in_common, " of ",
                                      repeated.unknown));
    }
    return warnings;
  };
  EXPECT_THAT(repeats("cifar10"), ElementsAre("1 0: 0 of 0"));
  EXPECT_THAT(repeats("svhn"), ElementsAre("1 0: 0 of 0"));
  EXPECT_THAT(repeats("cifar10_plus_10"), ElementsAre("2 1: 9 of 10"));
  EXPECT_THAT(repeats("cifar10_plus_50"), ElementsAre("2 1: 46 of 50"));
  EXPECT_EQ(repeats("imbalance_table_1").size(), 5);
  for (const char* name :
       {"mnist", "mnist_neal", "svhn_neal", "svhn_distinct", "tinyimagenet", "cifar40_60", "cifar10_neal",
        "cifar10_distinct", "cifar10_plus_10_distinct", "cifar10_plus_50_distinct", "fashion_mnist_6_4"}) {
    EXPECT_THAT(repeats(name), ElementsAre()) << name;
  }
}

TEST(DistinctTasks, KeepFourTrialsAndDrawOne) {
  const auto expect = [](const std::string& name, const nlohmann::json& trials, const Ids& kept) {
    const TaskSpec task = Task(name);
    ASSERT_EQ(task.split_size(), 5) << name;
    for (int i = 0; i < 4; ++i) {
      EXPECT_THAT(task.split(i).known(), ElementsAreArray(trials[kept[i]]["known"].get<Ids>()));
      if (task.split(i).unknown_size() == 0) continue;
      EXPECT_THAT(task.split(i).unknown(), ElementsAreArray(trials[kept[i]]["unknown"].get<Ids>()));
    }
  };
  const nlohmann::json trials = Published("osr_splits")["trials"];
  expect("cifar10_distinct", trials["cifar10"], {0, 2, 3, 4});
  expect("svhn_distinct", trials["svhn"], {0, 2, 3, 4});
  expect("cifar10_plus_10_distinct", trials["cifar_plus_10"], {0, 1, 3, 4});
  expect("cifar10_plus_50_distinct", trials["cifar_plus_50"], {0, 1, 3, 4});

  for (const char* name : {"cifar10_distinct", "svhn_distinct"}) {
    const std::vector<int64_t> order = RandomStream(0, absl::StrCat(name, "/split 4")).Permutation(10);
    EXPECT_THAT(Task(name).split(4).known(), ElementsAreArray(order.begin(), order.begin() + 6));
  }
  RandomStream random(0, "cifar10_plus_distinct/split 4");
  const std::vector<int64_t> known = random.Permutation(10), unknown = random.Permutation(100);
  for (const int n : {10, 50}) {
    const ClassSplit split = Task(absl::StrCat("cifar10_plus_", n, "_distinct")).split(4);
    EXPECT_THAT(split.known(), ElementsAreArray(known.begin(), known.begin() + 4));
    EXPECT_THAT(split.unknown(), ElementsAreArray(unknown.begin() + 50 - n, unknown.begin() + 50));
  }
}

TEST(ImbalanceTasks, HoldoutHasFoldsOfThePool) {
  const TaskSpec task = Task("imbalance_holdout");
  ASSERT_EQ(CountSplits(task), 5 * 5 * 2);
  std::set<std::pair<int, int>> levels;
  for (int s = 0; s < CountSplits(task); ++s) {
    const TaskData data = Data(task, s);
    const int known = data.train().class_id_size(), unknown = data.test_unknown(0).selection().class_id_size();
    EXPECT_EQ(TestSizes(data), std::make_pair(int64_t{3000} * known, int64_t{3000} * unknown));
    EXPECT_EQ(*CountSamples(data.train(), TheCatalog()), 3000 * known);
    EXPECT_DOUBLE_EQ(Openness(data), Openness(known, unknown));
    levels.emplace(known, unknown);
  }
  EXPECT_EQ(levels.size(), 5);
}

// The 25 configurations of Table 1, with the levels in the order in which they were drawn: nine tenths of each pool in
// two folds, and all images of SVHN's unknown classes.
TEST(ImbalanceTasks, TableOneHasTheRecoveredDraws) {
  const TaskSpec task = Task("imbalance_table_1");
  ASSERT_EQ(CountSplits(task), 25 * 2);
  const DataSetInfo& svhn = **TheCatalog().Find("svhn");
  int split = 0;
  const nlohmann::json published = Published("imbalance_configs");
  for (const nlohmann::json& level : published["draw_order"]) {
    for (const nlohmann::json& repeat : level["repeats"]) {
      int64_t images = 0;
      for (const int id : repeat["unknown"].get<Ids>()) {
        images += SamplesOfClass(**FindPart(svhn, "train"), id) + SamplesOfClass(**FindPart(svhn, "test"), id);
      }
      for (int fold = 0; fold < 2; ++fold, ++split) {
        const TaskData data = Data(task, split);
        EXPECT_THAT(data.train().class_id(), ElementsAreArray(repeat["known"].get<Ids>()));
        EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAreArray(repeat["unknown"].get<Ids>()));
        EXPECT_NEAR(Openness(data), level["openness"].get<double>(), 1e-12);
        EXPECT_EQ(TestSizes(data), std::make_pair(int64_t{2700} * level["K"].get<int>(), images));
        EXPECT_EQ(data.test_known().fold().fold(), fold);
      }
    }
  }
  EXPECT_EQ(split, 50);
}

TEST(CubTasks, LevelsAreThePublishedOnes) {
  const nlohmann::json published = Published("cub_splits");
  const TaskData data = Data(Task("cub"), 0);
  EXPECT_THAT(data.train().class_id(), ElementsAreArray(published["known"].get<Ids>()));
  ASSERT_EQ(data.test_unknown_size(), 3);
  std::set<int> all(data.train().class_id().begin(), data.train().class_id().end());
  for (const auto& [group, level] : std::vector<std::pair<int, std::string>>{{0, "Easy"}, {1, "Medium"}, {2, "Hard"}}) {
    const Ids ids = List(data.test_unknown(group).selection().class_id());
    EXPECT_EQ(ids, published["unknown"][level].get<Ids>());
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 200);
  const auto [known, unknown] = TestSizes(data);
  EXPECT_EQ(known + unknown, 5794);
  EXPECT_EQ(TestSizes(Data(Task("cub_easy_hard"), 0)), std::make_pair(known, unknown));
}

// The Semantic Shift Benchmark's other two sets; every class is known or in one level.
TEST(SsbTasks, LevelsAreThePublishedOnes) {
  const nlohmann::json published = Published("ssb_splits");
  for (const auto& [name, classes] : {std::pair{"ssb_aircraft", 100}, std::pair{"ssb_cars", 196}}) {
    const TaskData data = Data(Task(name), 0);
    EXPECT_THAT(data.train().class_id(), ElementsAreArray(published[name]["known"].get<Ids>()));
    ASSERT_EQ(data.test_unknown_size(), 3);
    std::set<int> all(data.train().class_id().begin(), data.train().class_id().end());
    for (const UnknownGroup& group : data.test_unknown()) {
      const std::string level = group.name() == "easy" ? "Easy" : group.name() == "medium" ? "Medium" : "Hard";
      const Ids ids = List(group.selection().class_id());
      EXPECT_EQ(ids, published[name]["unknown"][level].get<Ids>());
      all.insert(ids.begin(), ids.end());
    }
    EXPECT_EQ(all.size(), classes);
  }
  const auto [known, unknown] = TestSizes(Data(Task("ssb_cars"), 0));
  EXPECT_EQ(known + unknown, 8041);
}

// As many images as OpenMIBOOD's lists have lines.
TEST(OpenMibood, TestsWhatTheListsName) {
  EXPECT_EQ(TestSizes(Data(Task("openmibood_midog"), 0)),
            std::make_pair(int64_t{251},
                           int64_t{2956 + 2946 + 3248 + 14725 + 5992 + 3515 + 5678 + 863 + 3511 + 21897 + 1879}));
  EXPECT_EQ(TestSizes(Data(Task("openmibood_phakir"), 0)),
            std::make_pair(int64_t{427}, int64_t{822 + 891 + 66033 + 120 + 750 + 900 + 107937}));
}

// Users of the same split have the same hash. Another hash means another split, or other files.
TEST(SplitDigest, IsStableForPublishedSplits) {
  const auto digest = [](const std::string& task, int split) { return SplitDigest(Data(Task(task), split)); };
  EXPECT_EQ(digest("cifar10", 0), "5d9cca6bb412928cb2913ace75fe7f91264a179708b76c8158c0d70381fe6005");
  EXPECT_EQ(digest("mnist", 0), "f66d033cc2e9cdea94ac532a9b6d3d348bc79c17544bb4fc13f9a76750b316d5");
  EXPECT_EQ(digest("cifar10_plus_50", 3), "8c01a379f49667f44f35b3725175a90bb3c5c79412d7ab4cb1342921a6604599");
  EXPECT_EQ(digest("cifar10_distinct", 1), digest("cifar10", 2));
}

// Benchmarks with near and far sets of unknown samples: CIFAR-40/60 and ImageNet-200 of the unified benchmark, and
// OpenOOD's.

TEST(Cifar4060, HasThePapersSets) {
  const nlohmann::json published = Published("cifar_40_60");
  const TaskSpec task = Task("cifar40_60");
  ASSERT_EQ(CountSplits(task), 5);
  for (int s = 0; s < 5; ++s) {
    const TaskData data = Data(task, s);
    const nlohmann::json& substitute = published["substitutes"][s];
    EXPECT_THAT(data.train().class_id(), ElementsAreArray(substitute["in_distribution_fine_indices"].get<Ids>()));
    EXPECT_THAT(data.test_unknown(0).selection().class_id(),
                ElementsAreArray(substitute["near_ood_fine_indices"].get<Ids>()));
    std::vector<int64_t> sizes;
    for (const UnknownGroup& group : data.test_unknown())
      sizes.push_back(*CountSamples(group.selection(), TheCatalog()));
    EXPECT_THAT(sizes, ElementsAre(6000, 4000, 4000, 5640, 10000));
    EXPECT_EQ(*CountSamples(data.test_known(), TheCatalog()), 4000);
    EXPECT_EQ(*CountSamples(data.external(), TheCatalog()), 79000);
  }
  TaskRequest request;
  request.validation_per_class = 50;
  const TaskData data = *ResolveTask(task, request, TheCatalog());
  EXPECT_EQ(*CountSamples(data.train(), TheCatalog()), 18000);
  EXPECT_EQ(*CountSamples(data.validation_known(), TheCatalog()), 2000);
}

std::vector<std::string> Groups(const TaskData& data, UnknownGroup::Distance distance) {
  std::vector<std::string> groups;
  for (const UnknownGroup& group : data.test_unknown()) {
    if (group.distance() == distance) groups.push_back(group.name());
  }
  return groups;
}

// Class ids of Tiny ImageNet and ImageNet are positions in the sorted list of WordNet ids.
TEST(ImageNetTasks, ListsAreTheReconstructedOnes) {
  const nlohmann::json published = Published("imagenet_splits");
  const auto names = [](const std::string& data_set) {
    const auto& all = (*TheCatalog().Find(data_set))->class_name();
    return std::vector<std::string>(all.begin(), all.end());
  };
  EXPECT_EQ(names("imagenet"), published["wnid_all"].get<std::vector<std::string>>());
  EXPECT_EQ(names("tinyimagenet"), published["wnid"].get<std::vector<std::string>>());
  std::vector<std::string> kept;
  const TaskData cifar = Data(Task("cifar40_60"), 0);
  for (const int id : cifar.external().class_id()) kept.push_back(names("tinyimagenet")[id]);
  EXPECT_EQ(kept, published["tinyimagenet_158_kept"].get<std::vector<std::string>>());

  const TaskData data = Data(Task("imagenet_200_unified"), 0);
  Ids known = published["imagenet_200"].get<Ids>();
  std::sort(known.begin(), known.end());
  EXPECT_EQ(List(data.test_known().class_id()), known);
  EXPECT_EQ(List(data.external().class_id()), published["external"].get<Ids>());
  EXPECT_THAT(Groups(data, UnknownGroup::FAR), ElementsAre("food101", "caltech256", "places365"));
  for (const UnknownGroup& group : data.test_unknown()) {
    const Selection& samples = group.selection();
    EXPECT_EQ(*CountSamples(samples, TheCatalog()),
              group.name() == "caltech256" ? 40 * 827 : 10000);  // 827: upper limit
    Ids ids = (group.name() == "near" ? published["near_imagenet_200"] : published["far"][group.name()]).get<Ids>();
    if (group.name() == "caltech256") ids.pop_back();  // the background class
    EXPECT_EQ(List(samples.class_id()), ids);
  }
}

// Its MNIST-6/4 and CIFAR-6/4 are the splits of Vaze et al.
TEST(OpenOodTasks, HaveTheClassesOfItsOpenSetRecognition) {
  const nlohmann::json published = Published("openood_osr_splits");
  for (const auto& [name, unknown] : std::vector<std::pair<std::string, int>>{
           {"mnist", 4}, {"cifar10", 4}, {"openood_osr_cifar50", 50}, {"openood_osr_tin20", 180}}) {
    SCOPED_TRACE(name);
    const TaskSpec task = Task(name);
    const auto& class_names = (*TheCatalog().Find(task.data_set()))->class_name();
    ASSERT_EQ(CountSplits(task), 5);
    for (int s = 0; s < 5; ++s) {
      const TaskData data = Data(task, s);
      std::vector<std::string> known;
      for (const int id : data.train().class_id()) known.push_back(class_names[id]);
      EXPECT_EQ(known, published[name][s].get<std::vector<std::string>>());
      EXPECT_EQ(data.test_unknown(0).selection().class_id_size(), unknown);
    }
  }
}

// The paper's numbers of known, negative and unknown classes; no class has two roles.
TEST(OpenSetImagenet, HasItsClasses) {
  for (const auto& [name, known, negative, unknown] :
       std::vector<std::tuple<const char*, int, int, int>>{{"openset_imagenet_p1", 116, 67, 166},
                                                           {"openset_imagenet_p2", 30, 31, 55},
                                                           {"openset_imagenet_p3", 151, 97, 164}}) {
    const TaskData data = Data(Task(name), 0);
    std::set<int> classes(data.train().class_id().begin(), data.train().class_id().end());
    EXPECT_EQ(classes.size(), known) << name;
    classes.insert(data.external().class_id().begin(), data.external().class_id().end());
    EXPECT_EQ(classes.size(), known + negative) << name;
    ASSERT_EQ(data.test_unknown_size(), 1);
    classes.insert(data.test_unknown(0).selection().class_id().begin(),
                   data.test_unknown(0).selection().class_id().end());
    EXPECT_EQ(classes.size(), known + negative + unknown) << name;
  }
}

TEST(OpenOodTasks, HaveItsNearAndFarSets) {
  for (const auto& [name, other, classes] : std::vector<std::tuple<const char*, const char*, int>>{
           {"openood_cifar10", "cifar100", 10}, {"openood_cifar100", "cifar10", 100}}) {
    const TaskData data = Data(Task(name), 0);
    EXPECT_EQ(data.train().class_id_size(), classes);
    EXPECT_THAT(Groups(data, UnknownGroup::NEAR), ElementsAre(other, "tin"));
    EXPECT_THAT(Groups(data, UnknownGroup::FAR), ElementsAre("mnist", "svhn", "textures", "places365"));
  }
  // The lengths of its lists: known, unknown in their order, and the unknown images for validation.
  for (const auto& [name, known, unknown, validation] :
       std::vector<std::tuple<std::string, int, std::vector<int>, int>>{
           {"openood_cifar10", 9000, {9000, 7793, 70000, 26032, 5640, 35195}, 1000},
           {"openood_cifar100", 9000, {10000, 6526, 70000, 26032, 5640, 33773}, 972}}) {
    const TaskSpec task = Task(name);
    const auto samples = [](const std::string& data_set, const std::string& part_name) -> int64_t {
      for (const auto& part : (*TheCatalog().Find(data_set))->layout(0).part()) {
        if (part.name() == part_name) return part.samples();
      }
      return 0;
    };
    EXPECT_EQ(samples(task.data_set(), "test"), known);
    for (size_t i = 0; i < unknown.size(); ++i) {
      EXPECT_EQ(samples(task.unknown(i).data_set(), task.unknown(i).part()), unknown[i]) << i;
    }
    EXPECT_EQ(samples(task.external().data_set(), task.external().validation_part()), validation);
    TaskRequest request;
    request.validation_per_class = 1000;
    const TaskData data = *ResolveTask(task, request, TheCatalog());
    EXPECT_EQ(data.validation_known().part(), "val");
    EXPECT_EQ(*CountSamples(data.validation_known(), TheCatalog()), 1000);
    EXPECT_EQ(*CountSamples(data.train(), TheCatalog()), 50000);  // none is left out
    EXPECT_EQ(*CountSamples(data.validation_unknown(0).selection(), TheCatalog()), validation);
    EXPECT_FALSE(Data(task, 0).has_validation_known());
  }
  for (const auto& [name, classes] :
       std::vector<std::pair<std::string, int>>{{"openood_imagenet_200", 200}, {"openood_imagenet_1k", 1000}}) {
    const TaskData data = Data(Task(name), 0);
    EXPECT_EQ(data.test_known().class_id_size(), classes);
    EXPECT_EQ(*CountSamples(data.test_known(), TheCatalog()), 45 * classes);
    EXPECT_EQ(*CountSamples(data.train(), TheCatalog()), 50 * classes);  // to fit to
    // Its lists for searches: val_imagenet.txt or val_imagenet200.txt, and val_openimage_o.txt.
    TaskRequest request;
    request.validation_per_class = 1763;
    for (const char* form : {"", "_full_spectrum"}) {
      const TaskData search = *ResolveTask(Task(name + form), request, TheCatalog());
      EXPECT_EQ(*CountSamples(search.validation_known(), TheCatalog()), 5 * classes);
      ASSERT_EQ(search.validation_unknown_size(), 1);
      EXPECT_EQ(*CountSamples(search.validation_unknown(0).selection(), TheCatalog()), 1763);
      EXPECT_FALSE(search.has_external());
    }
    EXPECT_THAT(Groups(data, UnknownGroup::NEAR), ElementsAre("ssb_hard", "ninco"));
    EXPECT_THAT(Groups(data, UnknownGroup::FAR), ElementsAre("inaturalist", "textures", "openimage_o"));
    const TaskData full = Data(Task(name + "_full_spectrum"), 0);
    ASSERT_EQ(full.test_shifted_size(), 3);
    EXPECT_THAT(full.test_shifted(0).selection().class_id(), ElementsAreArray(data.test_known().class_id()));
    // ImageNet-V2 and OpenOOD's draw of ImageNet-C have 10 images of each class. ImageNet-R has the 200 classes.
    const auto count = [&](int i) { return *CountSamples(full.test_shifted(i).selection(), TheCatalog()); };
    EXPECT_THAT((Ids{int(count(0)), int(count(1)), int(count(2))}), ElementsAre(10 * classes, 10 * classes, 30000));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(full.test_shifted(i).selection().as_stored(), i == 1);  // ImageNet-C
  }
  const TaskData full = Data(Task("openood_cifar10_full_spectrum"), 0);
  ASSERT_EQ(full.test_shifted_size(), 1);
  EXPECT_EQ(*CountSamples(full.test_shifted(0).selection(), TheCatalog()), 10000);
}

// The rule chooses from each superclass the two classes that come first by the SHA-256 of "SALT:SUPERCLASS:NAME".
TEST(Cifar4060, SubstitutesFollowTheRule) {
  const nlohmann::json published = Published("cifar_40_60");
  const DataSetInfo& cifar100 = **TheCatalog().Find("cifar100");
  for (const nlohmann::json& substitute : published["substitutes"]) {
    Ids known;
    for (const auto& [superclass, names] : published["superclasses"].items()) {
      std::vector<std::pair<std::string, std::string>> ranked;
      for (const std::string& name : names.get<std::vector<std::string>>()) {
        const std::string text = absl::StrCat(substitute["salt"].get<std::string>(), ":", superclass, ":", name);
        if (name != "bridge") ranked.emplace_back(name == "forest" ? "" : ToHex(Sha256Of(text)), name);
      }
      std::sort(ranked.begin(), ranked.end());
      for (int i = 0; i < 2; ++i) {
        const auto& all = cifar100.class_name();
        known.push_back(static_cast<int>(std::find(all.begin(), all.end(), ranked[i].second) - all.begin()));
      }
    }
    std::sort(known.begin(), known.end());
    EXPECT_EQ(known, substitute["in_distribution_fine_indices"].get<Ids>());
  }
}

}  // namespace

}  // namespace openset
