#include "experiments/study/data_contents.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

class DataContents : public ::testing::Test {
 protected:
  DataContents() : store_(sandbox_.folder() + "/store") {}

  void WriteImages(const std::string& test_images) const {
    for (const char* file : {"train-images", "train-labels", "test-labels"}) {
      sandbox_.Write(absl::StrCat("digits/", file), file);
    }
    sandbox_.Write("digits/test-images", test_images);
  }

  // An experiment whose catalog was told.
  Experiment Told(const std::vector<std::string>& data_folders) const {
    absl::StatusOr<Experiment> experiment = sandbox_.Load(kMinimalSpec);
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_THAT(TellContents(store_, data_folders, nullptr, &*experiment), IsOk());
    return *std::move(experiment);
  }

  // "" of a part of which nothing is known.
  static std::string ContentOf(const Experiment& experiment, const std::string& name) {
    for (const DataSetPart& part : (*experiment.catalog.Find("digits"))->layout(0).part()) {
      if (part.name() == name) return part.content_sha256();
    }
    return "no such part";
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(DataContents, AreToldByTheFilesElseByWhatTheStoreRemembers) {
  EXPECT_EQ(ContentOf(Told({sandbox_.folder()}), "test"), "");  // neither is there
  WriteImages("some images");
  const Experiment told = Told({sandbox_.folder()});
  const std::string content = ContentOf(told, "test");
  EXPECT_EQ(content, Sha256Hex(absl::StrCat(Sha256Hex("some images"), "\n", Sha256Hex("test-labels"), "\n")));
  EXPECT_NE(ContentOf(told, "train"), content);
  EXPECT_EQ(ContentOf(Told({}), "test"), "");  // nothing was remembered yet

  ASSERT_THAT(RememberContents(store_, told), IsOk());
  EXPECT_EQ(*ReadFile(store_.folder() + "/data/digits/test.sha256"), content);
  EXPECT_EQ(ContentOf(Told({}), "test"), content);
  // Files that are there win.
  WriteImages("other images");
  EXPECT_NE(ContentOf(Told({sandbox_.folder()}), "test"), content);
  std::filesystem::remove_all(sandbox_.folder() + "/digits");
  EXPECT_EQ(ContentOf(Told({sandbox_.folder()}), "test"), content);
}

TEST_F(DataContents, AStoreThatCantBeWrittenIsNamed) {
  WriteImages("some images");
  const Experiment told = Told({sandbox_.folder()});
  sandbox_.Write("store/data", "a file in the folder's place");
  EXPECT_THAT(RememberContents(store_, told),
              StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr(store_.folder() + "/data")));
}

}  // namespace
}  // namespace openset
