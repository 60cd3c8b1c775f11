#include "data/sets/feature_data_set.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/task.h"

namespace openset {
namespace {

class FeatureDataSetTest : public ::testing::Test {
 protected:
  // Sample i has class i % 3 and the features (i, -i); two more samples are of the group "far".
  void Write(const std::string& name, int samples, bool with_parts = false) {
    std::vector<int64_t> label;
    std::vector<float> features;
    std::vector<std::string> part, group;
    for (int i = 0; i < samples + 2; ++i) {
      label.push_back(i < samples ? i % 3 : -1);
      features.insert(features.end(), {static_cast<float>(i), static_cast<float>(-i)});
      part.emplace_back(i < samples / 2 ? "train" : "test");
      group.emplace_back("far");
    }
    const int64_t n = samples + 2;
    NpzArrays arrays = {
        {"label", MakeNpy(label, {n})}, {"features", MakeNpy(features, {n, 2})}, {"group", MakeNpy(group)}};
    if (with_parts) arrays["part"] = MakeNpy(part);
    ASSERT_THAT(WriteNpz(JoinPath(folder_, name), arrays), IsOk());
  }

  std::string Name(const std::string& file) { return absl::StrCat(kFeaturesPrefix, JoinPath(folder_, file)); }

  absl::StatusOr<TaskSpec> Task(const std::string& text) {
    const std::string path = JoinPath(folder_, "task.textproto");
    EXPECT_THAT(WriteFileAtomically(path, text), IsOk());
    return ReadTask(path, catalog_);
  }

  const std::string folder_ = ::testing::TempDir();
  Catalog catalog_ = Catalog(std::vector<DataSetInfo>());
};

TEST_F(FeatureDataSetTest, IsFoundByItsPath) {
  Write("clip.npz", 30);
  ASSERT_OK_AND_ASSIGN(const auto info, catalog_.Find(Name("clip.npz")));
  EXPECT_THAT(FindDataSetProblems(*info), IsEmpty());
  EXPECT_TRUE(HasFeatures(*info));
  EXPECT_THAT(info->class_name(), ElementsAre("0", "1", "2", "far"));
  EXPECT_EQ(info->unknown_classes(), 1);
  EXPECT_THAT(PartNames(*info), ElementsAre("train", "test", "all", "far"));
  EXPECT_THAT(FindPart(*info, "test").value()->samples_per_class(), ElementsAre(2, 2, 2, 0));
  EXPECT_THAT(FindPart(*info, "train").value()->samples_per_class(), ElementsAre(8, 8, 8, 0));
  EXPECT_TRUE(HasChecksums(*FindPart(*info, "all").value()));
  EXPECT_NE(*PartDigest(*info, "train"), *PartDigest(*info, "test"));
  EXPECT_THAT(CheckFiles(*info, "train", {}), IsOk());
  // A sample is the bytes of its numbers.
  ASSERT_OK_AND_ASSIGN(const auto source, OpenPart(*info, "far", {}));
  ASSERT_OK_AND_ASSIGN(const auto images, source->Read({1}));
  float features[2];
  ASSERT_EQ(images[0].pixels.size(), sizeof(features));
  std::memcpy(features, images[0].pixels.data(), sizeof(features));
  EXPECT_THAT(features, ElementsAre(31, -31));
  EXPECT_THAT(catalog_.Find(Name("absent.npz")), IsNotFound("absent.npz"));
}

// Another content is other data.
TEST_F(FeatureDataSetTest, ChangedFilesAreNoticed) {
  Write("changing.npz", 30);
  const DataSetInfo before = *catalog_.Find(Name("changing.npz")).value();
  Write("changing.npz", 33);
  EXPECT_THAT(CheckFiles(before, "train", {}), IsDataLoss("changing.npz"));
  const DataSetInfo after = *Catalog(std::vector<DataSetInfo>()).Find(Name("changing.npz")).value();
  EXPECT_NE(*PartDigest(before, "far"), *PartDigest(after, "far"));
}

TEST_F(FeatureDataSetTest, TasksNameFilesBesideThem) {
  Write("clip.npz", 30);
  // The groups of a file are in parts of their own.
  const auto task = Task(R"(name: "t" data_set: "features:clip.npz" split { known: [0, 1] unknown: 2 }
                            unknown { group: "held_out" data_set: "features:clip.npz" }
                            unknown { group: "far" data_set: "features:clip.npz" part: "far" class_id: 3 })");
  EXPECT_THAT(task.status(), IsInvalidArgument("lists classes, and so does"));
  const auto drawn =
      Task(R"(name: "t" data_set: "features:clip.npz" drawn { level { known: 2 unknown: 1 } repeats: 3 })");
  ASSERT_THAT(drawn, IsOk());
  EXPECT_EQ(drawn->data_set(), Name("clip.npz"));
  for (int split = 0; split < 3; ++split) {
    TaskRequest request;
    request.split = split;
    ASSERT_OK_AND_ASSIGN(const auto data, ResolveTask(*drawn, request, catalog_));
    // The group is no class to draw.
    for (const int id : data.train().class_id()) EXPECT_LT(id, 3);
    EXPECT_LT(data.test_unknown(0).selection().class_id(0), 3);
    EXPECT_EQ(CountSamples(data.train(), catalog_).value(), 16);
  }
  // Too many to draw: the group is not among them.
  EXPECT_THAT(Task(R"(name: "t" data_set: "features:clip.npz" drawn { level { known: 3 unknown: 1 } })").status(),
              IsInvalidArgument("has 3 classes"));
}

TEST_F(FeatureDataSetTest, GroupsOfThePartTestAreUnknown) {
  Write("parts.npz", 30, /*with_parts=*/true);
  ASSERT_OK_AND_ASSIGN(const auto task, Task(R"(name: "t" data_set: "features:parts.npz" split { known: [0, 1, 2] })"));
  ASSERT_OK_AND_ASSIGN(const auto data, ResolveTask(task, {}, catalog_));
  EXPECT_THAT(data.test_unknown(0).selection().class_id(), ElementsAre(3));
  EXPECT_EQ(CountSamples(data.test_unknown(0).selection(), catalog_).value(), 2);
}

TEST_F(FeatureDataSetTest, EachSplitMayHaveItsFile) {
  Write("net_0.npz", 30);
  Write("net_1.npz", 60);
  const std::string text = R"(name: "t" data_set: "features:net_{split}.npz" test_only: true test_part: "all"
                              unknown { group: "far" data_set: "features:net_{split}.npz" part: "far" } )";
  ASSERT_OK_AND_ASSIGN(const auto task, Task(text + "split { known: [0, 1, 2] } split { known: [0, 1] }"));
  for (int split = 0; split < 2; ++split) {
    TaskRequest request;
    request.split = split;
    ASSERT_OK_AND_ASSIGN(const auto data, ResolveTask(task, request, catalog_));
    EXPECT_EQ(data.test_known().data_set(), Name(absl::StrCat("net_", split, ".npz")));
    EXPECT_EQ(CountSamples(data.test_known(), catalog_).value(), split == 0 ? 30 : 40);
  }
  EXPECT_THAT(Task(text + "split { known: 0 } split { known: 0 } split { known: 0 }").status(),
              IsInvalidArgument("net_2.npz"));
  EXPECT_THAT(Task(text + "drawn { level { known: 1 unknown: 1 } }").status(),
              IsInvalidArgument("files of each split"));
}

TEST_F(FeatureDataSetTest, ClustersAreNotDivided) {
  const std::string path = JoinPath(folder_, "patients.npz");
  ASSERT_THAT(WriteNpz(path, {{"label", MakeNpy(std::vector<int64_t>{0, 0, 0, 0}, {4})},
                              {"cluster", MakeNpy(std::vector<int64_t>{7, 7, 8, 8}, {4})}}),
              IsOk());
  Selection selection;
  selection.set_data_set(Name("patients.npz"));
  selection.set_part("all");
  selection.add_class_id(0);
  ASSERT_OK_AND_ASSIGN(const auto opened, OpenSelection(selection, catalog_, {}));
  EXPECT_THAT(opened.samples.cluster, ElementsAre(7, 7, 8, 8));
  selection.set_only_last_per_class(1);
  EXPECT_TRUE(IsEstimate(selection, catalog_));
  EXPECT_THAT(OpenSelection(selection, catalog_, {})->samples.index, ElementsAre(2, 3));
}

}  // namespace
}  // namespace openset
