// The tasks of benchmarks with near and far sets of unknown samples: CIFAR-40/60 and ImageNet-200 of the unified
// benchmark, and OpenOOD's.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "data/splits/class_splits.h"
#include "data/testing/published_tasks_scene.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

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
