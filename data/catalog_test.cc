#include "data/catalog.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/sets/data_set_parts.h"
#include "data/testing/damage.h"
#include "data/testing/toy_data_set.h"

namespace openset {
namespace {

constexpr char kCatalogFolder[] = "data/catalog";
TEST(Catalog, NamesTheKnownDataSets) {
  const Catalog catalog({Parsed<DataSetInfo>(kToy)});
  ASSERT_TRUE(catalog.Find("toy").ok());
  EXPECT_EQ((*catalog.Find("toy"))->class_name(1), "b");
  EXPECT_EQ(catalog.Find("tay").status(),
            absl::NotFoundError("unknown data set 'tay'; did you mean 'toy'? (known: toy)"));
}

TEST(Catalog, OpenNamesFileAndLine) {
  EXPECT_TRUE(absl::IsNotFound(Catalog::Open("/no/such/folder").status()));
  WriteTestFile("catalog/toy.textproto", kToy);
  WriteTestFile("catalog/README.md", "not a data set");
  const std::string folder = ::testing::TempDir() + "/catalog";
  ASSERT_OK_AND_ASSIGN(const Catalog catalog, Catalog::Open(folder));
  EXPECT_THAT(catalog.names(), ElementsAre("toy"));
  EXPECT_TRUE((*catalog.Find("toy"))->has_flip_keeps_class());

  WriteTestFile("catalog/tax.textproto", kToy);
  WriteTestFile("catalog/tea.textproto", "name: 'tea'\nleaf: 1");
  const absl::Status status = Catalog::Open(folder).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tax.textproto:2: name: must be the file's name"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tea.textproto:2:5: unknown field 'leaf'"));
}

TEST(CountSamples, AddsUpClassesUpToTheLimit) {
  const Catalog catalog({Parsed<DataSetInfo>(kToy)});
  const auto count = [&](const std::string& text) {
    return CountSamples(Parsed<Selection>("data_set: 'toy' " + text), catalog);
  };
  EXPECT_EQ(*count("part: 'train' class_id: [0, 1]"), 3 + 1);
  EXPECT_EQ(*count("part: 'train' class_id: 0"), 3);
  EXPECT_EQ(*count("part: 'train' class_id: [1, 0] limit_per_class: 2"), 1 + 2);
  EXPECT_EQ(*count("part: 'test' class_id: [0, 1]"), 2 + 2);
  EXPECT_EQ(count("part: 'test' class_id: 2").status(),
            absl::InvalidArgumentError("data set 'toy' has no class 2 (0 to 1)"));
  EXPECT_EQ(count("part: 'tests' class_id: 0").status(),
            absl::NotFoundError("data set 'toy': unknown part 'tests'; did you mean 'test'? (known: train, test)"));
  EXPECT_TRUE(
      count(absl::StrCat("part: 'test' class_id: 0 part_digest: '", *PartDigest(**catalog.Find("toy"), "test"), "'"))
          .ok());
  EXPECT_TRUE(absl::IsDataLoss(count("part: 'test' class_id: 0 part_digest: 'x'").status()));
}

// The draw of three samples has all three of class 0, of which the limit leaves two, or two of them and the only one of
// class 1.
TEST(CountSamples, IsAnUpperLimitForLimitedDraws) {
  const Catalog catalog({Parsed<DataSetInfo>(kToy)});
  const auto selection = [](const std::string& text) {
    return Parsed<Selection>(absl::StrCat("data_set: 'toy' part: 'train' ", text));
  };
  const Selection both = selection("class_id: [0, 1] limit_per_class: 2 draw { name: 'x' samples: 3 }");
  EXPECT_EQ(*CountSamples(both, catalog), 3);
  EXPECT_TRUE(IsEstimate(both, catalog));
  EXPECT_FALSE(IsEstimate(selection("class_id: [0, 1] limit_per_class: 2"), catalog));
  EXPECT_FALSE(IsEstimate(selection("class_id: 0 limit_per_class: 2 draw { name: 'x' samples: 3 }"), catalog));
  EXPECT_FALSE(IsEstimate(selection("class_id: [0, 1] draw { name: 'x' samples: 3 }"), catalog));
}

TEST(CountSamples, IsAnEstimateForFoldsOfClusters) {
  const auto is_estimate = [](const std::string& format, const std::string& text) {
    const Catalog catalog({Parsed<DataSetInfo>(absl::StrCat(
        "name: 'set' class_name: ['a', 'b'] layout { part { name: 'train' samples_per_class: 9 ", format, " } }"))});
    return IsEstimate(Parsed<Selection>(absl::StrCat("data_set: 'set' part: 'train' class_id: 0 ", text)), catalog);
  };
  for (const char* divides : {"fold { name: 'x' folds: 3 }", "only_last_per_class: 2", "without_last_per_class: 2"}) {
    EXPECT_TRUE(is_estimate("image_list { cluster_column: 2 }", divides)) << divides;
    EXPECT_TRUE(is_estimate("image_list { clusters { path: 'c.csv' } }", divides)) << divides;
    EXPECT_TRUE(is_estimate("image_folder { clusters { path: 'c.csv' } }", divides)) << divides;
    EXPECT_TRUE(is_estimate("features { clustered: true }", divides)) << divides;
    EXPECT_FALSE(is_estimate("image_list {}", divides)) << divides;
  }
  EXPECT_FALSE(is_estimate("image_list { cluster_column: 2 }", "limit_per_class: 2"));
}

// Classes and samples as their papers state them.
TEST(CatalogFolder, HasTheDataSets) {
  const absl::StatusOr<Catalog> catalog = Catalog::Open(kCatalogFolder);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  struct Published {
    int classes;
    std::vector<std::pair<std::string, int64_t>> parts;
  };
  const std::map<std::string, Published> published = {
      {"caltech256", {257, {{"all", 257 * 827}}}},  // upper limit
      {"cifar10", {10, {{"train", 50000}, {"test", 10000}}}},
      {"cifar10_c", {10, {{"test", 10000}}}},
      {"cifar100", {100, {{"train", 50000}, {"test", 10000}}}},
      {"cifar100_coarse", {20, {{"train", 50000}, {"test", 10000}}}},
      {"cifar100_folders", {100, {{"train", 50000}, {"test", 10000}}}},
      {"cub200", {200, {{"train", 5994}, {"test", 5794}}}},
      {"dtd", {47, {{"train", 1880}, {"val", 1880}, {"test", 1880}, {"all", 5640}}}},
      {"emnist_balanced", {47, {{"train", 112800}, {"test", 18800}}}},
      {"emnist_digits", {10, {{"train", 240000}, {"test", 40000}}}},
      {"emnist_letters", {26, {{"train", 124800}, {"test", 20800}}}},
      {"fashion_mnist", {10, {{"train", 60000}, {"test", 10000}}}},
      {"fgvc_aircraft", {100, {{"train", 6700}, {"test", 3400}}}},  // upper limits
      {"food101", {101, {{"train", 75750}, {"test", 25250}}}},
      {"gaussian_noise", {1, {{"test", 10000}}}},
      {"imagenet",
       {1000,
        {{"train", 1300000},  // upper limit
         {"train_50", 50000},
         {"val", 50000},
         {"openood_test", 45000},
         {"openood_val", 5000}}}},
      {"imagenet_c", {1000, {{"test", 10000}}}},
      {"imagenet_r", {200, {{"test", 30000}}}},
      {"imagenet_v2", {1000, {{"val", 10000}}}},
      {"inaturalist_ood", {1, {{"test", 10000}}}},
      {"kmnist", {10, {{"train", 60000}, {"test", 10000}}}},
      {"lsun_fix", {1, {{"test", 10000}}}},
      {"mnist", {10, {{"train", 60000}, {"test", 10000}}}},
      {"ninco", {1, {{"test", 5879}}}},
      {"notmnist", {10, {{"test", 18724}}}},
      // 964 and 659 characters, 20 drawers each; the small sets have 136 and 156 characters.
      {"omniglot",
       {1623,
        {{"background", 19280}, {"evaluation", 13180}, {"background_small1", 2720}, {"background_small2", 3120}}}},
      {"cifar10_openood", {10, {{"train", 50000}, {"val", 1000}, {"test", 9000}, {"corrupted", 10000}}}},
      {"cifar100_openood", {100, {{"train", 50000}, {"val", 1000}, {"test", 9000}}}},
      {"cifar10_openood_unknown",
       {1,
        {{"cifar100", 9000},
         {"tin", 7793},
         {"mnist", 70000},
         {"svhn", 26032},
         {"texture", 5640},
         {"places365", 35195}}}},
      {"cifar100_openood_unknown",
       {1,
        {{"cifar10", 10000},
         {"tin", 6526},
         {"mnist", 70000},
         {"svhn", 26032},
         {"texture", 5640},
         {"places365", 33773}}}},
      {"openood_outliers",
       {1, {{"tin597", 29850}, {"cifar10_val", 1000}, {"cifar100_val", 972}, {"imagenet_val", 1763}}}},
      {"openimage_o", {1, {{"test", 15869}}}},
      {"openmibood_midog", {3, {{"train", 1896}, {"val", 181}, {"test", 251}}}},
      {"openmibood_midog_far", {1, {{"ccagt", 21897}, {"fnac2019", 1879}}}},
      {"openmibood_midog_near",
       {3, {{"2", 3248}, {"3", 14725}, {"4", 5992}, {"5", 3515}, {"6a", 5678}, {"6b", 863}, {"7", 3511}}}},
      {"openmibood_midog_scanners", {3, {{"1b", 2956}, {"1c", 2946}}}},
      {"openmibood_phakir", {7, {{"train", 3824}, {"val", 370}, {"test", 427}}}},
      {"openmibood_phakir_far", {1, {{"kvasir", 900}, {"cataracts", 107937}}}},
      {"openmibood_phakir_near", {1, {{"cholec80", 66033}, {"endovis2015", 120}, {"endovis2018", 750}}}},
      {"openmibood_phakir_smoke", {7, {{"medium", 822}, {"heavy", 891}}}},
      {"places365", {365, {{"train", 365 * 5000}, {"val", 36500}}}},  // upper limit for "train"
      {"ssb_hard", {1, {{"test", 49000}}}},
      {"stanford_cars", {196, {{"train", 8144}, {"test", 8041}}}},
      {"svhn", {10, {{"train", 73257}, {"test", 26032}, {"extra", 531131}}}},
      {"textures_ood", {1, {{"test", 5160}}}},
      {"tinyimagenet", {200, {{"train", 100000}, {"val", 10000}}}},
      {"uniform_noise", {1, {{"test", 10000}}}},
  };
  std::vector<std::string> names;
  for (const auto& [name, entry] : published) {
    names.push_back(name);
    ASSERT_OK_AND_ASSIGN(const DataSetInfo* info, catalog->Find(name));
    EXPECT_EQ(info->class_name_size(), entry.classes) << name;
    EXPECT_FALSE(info->title().empty() || info->licence().empty() || info->reference().empty()) << name;
    ASSERT_EQ(info->layout(0).part_size(), entry.parts.size()) << name;
    for (size_t p = 0; p < entry.parts.size(); ++p) {
      EXPECT_EQ(info->layout(0).part(p).name(), entry.parts[p].first) << name;
      EXPECT_EQ(info->layout(0).part(p).samples(), entry.parts[p].second) << name;
      // Data that is not generated can be downloaded, or the catalog says how to get it.
      EXPECT_TRUE(info->fetch_size() > 0 || info->layout(0).part(p).has_noise()) << name;
    }
  }
  EXPECT_EQ(catalog->names(), names);
}

// Groups contain all classes, each once: five fine classes for each coarse one, and every character in its alphabet.
TEST(CatalogFolder, GroupsContainAllClassesOnce) {
  ASSERT_OK_AND_ASSIGN(const Catalog catalog, Catalog::Open(kCatalogFolder));
  for (const auto& [name, groups] : {std::pair{"cifar100", 20}, {"cifar100_folders", 20}, {"omniglot", 50}}) {
    const DataSetInfo& info = **catalog.Find(name);
    EXPECT_EQ(info.class_group_size(), groups);
    std::set<int> seen;
    for (const ClassGroup& group : info.class_group()) {
      if (groups == 20) {
        EXPECT_EQ(group.class_id_size(), 5) << group.name();
      }
      for (const int id : group.class_id()) {
        EXPECT_TRUE(seen.insert(id).second) << id;
        if (groups == 50) {
          EXPECT_EQ(info.class_name(id).find(group.name() + "/character"), 0) << id;
        }
      }
    }
    EXPECT_EQ(seen.size(), info.class_name_size());
  }
}

// All files that tasks read by default have checksums.
TEST(CatalogFolder, FilesOfTheSmallSetsHaveChecksums) {
  ASSERT_OK_AND_ASSIGN(const Catalog catalog, Catalog::Open(kCatalogFolder));
  for (const char* name : {"cifar10", "cifar100", "cifar100_coarse", "fashion_mnist", "kmnist", "mnist", "svhn"}) {
    for (const DataSetLayout& layout : (*catalog.Find(name))->layout()) {
      for (const DataSetPart& part : layout.part()) {
        for (const DataFile* file : FilesOf(part)) {
          EXPECT_TRUE(file->sha256_size() > 0 || file->has_md5()) << file->path();
        }
      }
    }
  }
}

}  // namespace
}  // namespace openset
