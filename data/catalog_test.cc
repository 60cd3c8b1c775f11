#include "data/catalog.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/proto/text_proto.h"
#include "data/testing/damage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kCatalogFolder[] = "data/catalog";
const std::string kSum(64, 'a');
const std::string kOtherSum(64, 'b');

// Two classes of 2 x 1 x 1 images: 3 + 1 in "train", 2 + 2 in "test".
constexpr char kToy[] = R"(
  name: "toy"
  class_name: "a"
  class_name: "b"
  channels: 2
  height: 1
  width: 1
  layout {
    part {
      name: "train"
      samples: 4
      samples_per_class: 3
      samples_per_class: 1
      cifar_binary { file { path: "toy/train.bin" } }
    }
    part {
      name: "test"
      samples: 4
      samples_per_class: 2
      cifar_binary { file { path: "toy/test.bin" } }
    }
  }
)";

template <typename M>
M Parse(const std::string& text) {
  M message;
  const auto source = ParseTextProto(text, "text", &message);
  EXPECT_TRUE(source.ok()) << source.status();
  return message;
}

std::vector<std::string> Problems(const DataSetInfo& info) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindDataSetProblems(info)) lines.push_back(p.path + ": " + p.message);
  return lines;
}

TEST(FindDataSetProblems, AcceptsTheToy) { EXPECT_THAT(Problems(Parse<DataSetInfo>(kToy)), IsEmpty()); }

TEST(FindDataSetProblems, NamesWhatContradicts) {
  DataSetInfo info = Parse<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->set_samples_per_class(1, 2);
  info.mutable_layout(0)->mutable_part(1)->set_name("train");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->set_label_at(1);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].samples_per_class: sums to 5, but samples is 4",
                                          "layout[0].part[1].cifar_binary.label_at: must be below label_bytes",
                                          "layout[0].part[1].name: 'train' is there twice"));
}

TEST(FindDataSetProblems, NamesMissingClassesAndBadSums) {
  DataSetInfo info = Parse<DataSetInfo>(kToy);
  info.add_class_name("c");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->mutable_file(0)->add_sha256("AB");
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[0].part[0].samples_per_class: must have one number, or one for each of the 3 classes "
                          "(has 2)",
                          "layout[0].part[1].samples_per_class: sums to 6, but samples is 4",
                          "layout[0].part[1]: sha256 of toy/test.bin must be 64 lower-case hexadecimal digits"));
}

TEST(FindDataSetProblems, FormatsHaveTheirNumberOfChannels) {
  DataSetInfo info = Parse<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->mutable_idx()->mutable_images();
  info.mutable_layout(0)->mutable_part(1)->mutable_png_sheet()->mutable_labels();
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].idx: holds images of 1 channel",
                                          "layout[0].part[1].png_sheet: holds images of 3 channels"));
}

// The toy's parts as image folders.
std::string FolderToy(const std::string& sizes, const std::string& more) {
  return absl::StrCat("name: 'toy' class_name: 'a' class_name: 'b' ", sizes,
                      " layout { part { name: 'train' samples: 4 samples_per_class: 2 image_folder { path: 'toy' ",
                      more, " } } }");
}

TEST(FindDataSetProblems, ImageFolders) {
  const std::string any = "channels: 3 height: 0 width: 0";
  EXPECT_THAT(Problems(Parse<DataSetInfo>(FolderToy(any, ""))), IsEmpty());
  EXPECT_THAT(Problems(Parse<DataSetInfo>(FolderToy(any, "class_folder: ['x', 'y/z'] listing_sha256: '" + kSum + "'"))),
              IsEmpty());
  EXPECT_THAT(Problems(Parse<DataSetInfo>(
                  FolderToy("channels: 2 height: 0 width: 7", "class_folder: 'x' listing_sha256: 'abc'"))),
              ElementsAre("layout[0].part[0].image_folder.class_folder: must have one folder for each of the 2 classes "
                          "(has 1)",
                          "layout[0].part[0].image_folder.listing_sha256: must be 64 lower-case hexadecimal digits",
                          "layout[0].part[0].image_folder: holds images of 1 or 3 channels, not 2",
                          "layout[0].part[0].image_folder: height and width must both be 0 where images have sizes of "
                          "their own"));
  DataSetInfo binary = Parse<DataSetInfo>(kToy);
  binary.set_height(0);
  EXPECT_THAT(Problems(binary),
              ElementsAre("layout[0].part[0]: holds images of one size, which height and width must say",
                          "layout[0].part[1]: holds images of one size, which height and width must say"));
}

TEST(PartDigest, DependsOnContentThatOnlyFilesTell) {
  DataSetInfo info = Parse<DataSetInfo>(FolderToy("channels: 3 height: 0 width: 0", ""));
  EXPECT_FALSE(HasChecksums(info.layout(0).part(0)));
  const std::string untold = *PartDigest(info, "train");
  info.mutable_layout(0)->mutable_part(0)->set_content_sha256(kSum);
  EXPECT_NE(*PartDigest(info, "train"), untold);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].content_sha256: is taken from the files: leave it out"));
}

TEST(PartDigest, OfAFolderDependsOnItsListing) {
  const std::string any = "channels: 3 height: 0 width: 0";
  const auto digest = [&](const std::string& more) {
    return *PartDigest(Parse<DataSetInfo>(FolderToy(any, more)), "train");
  };
  EXPECT_EQ(digest(""), digest("class_folder: ['x', 'y']"));
  EXPECT_NE(digest(""), digest("listing_sha256: '" + kSum + "'"));
  EXPECT_NE(digest("listing_sha256: '" + kOtherSum + "'"), digest("listing_sha256: '" + kSum + "'"));
}

TEST(FindDataSetProblems, LayoutsHoldTheSameSamples) {
  DataSetInfo info = Parse<DataSetInfo>(kToy);
  *info.add_layout() = info.layout(0);
  EXPECT_THAT(Problems(info), IsEmpty());
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(0, 1);
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(1, 3);
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[1]: must have the parts of layout[0], with as many samples of each class"));
}

TEST(Catalog, NamesTheKnownDataSets) {
  const Catalog catalog({Parse<DataSetInfo>(kToy)});
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
  const absl::StatusOr<Catalog> catalog = Catalog::Open(folder);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_THAT(catalog->names(), ElementsAre("toy"));
  EXPECT_TRUE((*catalog->Find("toy"))->has_flip_keeps_class());

  WriteTestFile("catalog/tax.textproto", kToy);
  WriteTestFile("catalog/tea.textproto", "name: 'tea'\nleaf: 1");
  const absl::Status status = Catalog::Open(folder).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tax.textproto:2: name: must be the file's name"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tea.textproto:2:5: unknown field 'leaf'"));
}

TEST(PartDigest, DependsOnContentNotOnStorage) {
  const DataSetInfo info = Parse<DataSetInfo>(kToy);
  const std::string digest = *PartDigest(info, "train");
  EXPECT_EQ(digest.size(), 64);
  EXPECT_NE(*PartDigest(info, "test"), digest);
  EXPECT_TRUE(absl::IsNotFound(PartDigest(info, "validation").status()));

  DataSetInfo stored_otherwise = info;
  DataSetPart* part = stored_otherwise.mutable_layout(0)->mutable_part(0);
  part->mutable_cifar_binary()->mutable_file(0)->set_path("elsewhere");
  stored_otherwise.set_class_name(0, "renamed");
  stored_otherwise.set_title("text");
  *stored_otherwise.add_layout() = info.layout(0);
  stored_otherwise.mutable_layout(1)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kSum);
  EXPECT_EQ(*PartDigest(stored_otherwise, "train"), digest);

  DataSetInfo other = info;
  other.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kSum);
  const std::string with_sum = *PartDigest(other, "train");
  EXPECT_NE(with_sum, digest);
  // A further accepted copy of the file is the same data.
  other.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kOtherSum);
  EXPECT_EQ(*PartDigest(other, "train"), with_sum);
  other = info;
  other.set_name("other");
  EXPECT_NE(*PartDigest(other, "train"), digest);
}

TEST(CountSamples, AddsUpClassesUpToTheLimit) {
  const Catalog catalog({Parse<DataSetInfo>(kToy)});
  const auto count = [&](const std::string& text) {
    return CountSamples(Parse<Selection>("data_set: 'toy' " + text), catalog);
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
  EXPECT_TRUE(absl::IsFailedPrecondition(count("part: 'test' class_id: 0 part_digest: 'x'").status()));
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
      {"caltech256", {257, {{"all", 257 * 827}}}},  // at most
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
      {"food101", {101, {{"train", 75750}, {"test", 25250}}}},
      {"gaussian_noise", {1, {{"test", 10000}}}},
      {"imagenet", {1000, {{"train", 1300000}, {"val", 50000}}}},  // of "train" at most
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
      {"openimage_o", {1, {{"test", 15869}}}},
      {"places365", {365, {{"train", 365 * 5000}, {"val", 36500}}}},  // of "train" at most
      {"ssb_hard", {1, {{"test", 49000}}}},
      {"svhn", {10, {{"train", 73257}, {"test", 26032}, {"extra", 531131}}}},
      {"textures_ood", {1, {{"test", 5160}}}},
      {"tinyimagenet", {200, {{"train", 100000}, {"val", 10000}}}},
      {"uniform_noise", {1, {{"test", 10000}}}},
  };
  std::vector<std::string> names;
  for (const auto& [name, entry] : published) {
    names.push_back(name);
    const absl::StatusOr<const DataSetInfo*> info = catalog->Find(name);
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ((*info)->class_name_size(), entry.classes) << name;
    EXPECT_FALSE((*info)->title().empty() || (*info)->licence().empty() || (*info)->reference().empty()) << name;
    ASSERT_EQ((*info)->layout(0).part_size(), entry.parts.size()) << name;
    for (size_t p = 0; p < entry.parts.size(); ++p) {
      EXPECT_EQ((*info)->layout(0).part(p).name(), entry.parts[p].first) << name;
      EXPECT_EQ((*info)->layout(0).part(p).samples(), entry.parts[p].second) << name;
      // What is not made can be had, or there is a word on how.
      EXPECT_TRUE((*info)->fetch_size() > 0 || (*info)->layout(0).part(p).has_noise()) << name;
    }
  }
  EXPECT_EQ(catalog->names(), names);
}

// Groups are of all classes, each once: five fine classes for each coarse one, and every character in its alphabet.
TEST(CatalogFolder, GroupsAreOfAllClasses) {
  const absl::StatusOr<Catalog> catalog = Catalog::Open(kCatalogFolder);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  for (const auto& [name, groups] : {std::pair{"cifar100", 20}, {"cifar100_folders", 20}, {"omniglot", 50}}) {
    const DataSetInfo& info = **catalog->Find(name);
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

// What a task reads by default can be checked to the byte.
TEST(CatalogFolder, FilesOfTheSmallSetsHaveChecksums) {
  const absl::StatusOr<Catalog> catalog = Catalog::Open(kCatalogFolder);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  for (const char* name : {"cifar10", "cifar100", "cifar100_coarse", "fashion_mnist", "kmnist", "mnist", "svhn"}) {
    for (const DataSetLayout& layout : (*catalog->Find(name))->layout()) {
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
