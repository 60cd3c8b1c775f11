#include "tools/cli/flags/flags.h"

#include <filesystem>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/bundle.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

// A new folder with the files, which have the content "x".
std::string Folder(const std::string& name, const std::vector<std::string>& files) {
  const std::string folder = JoinPath(::testing::TempDir(), name);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(MakeFolders(folder).ok());
  for (const std::string& file : files) EXPECT_TRUE(WriteFileAtomically(JoinPath(folder, file), "x").ok());
  return folder;
}

TEST(StudyFolder, OtherArgumentsAreUnchanged) {
  RunConfig config;
  for (const std::string argument : {"quickstart", ""}) {
    EXPECT_EQ(SpecOfStudyFolder(argument, &config).value(), argument);
  }
  EXPECT_THAT(SpecOfStudyFolder(Folder("none", {"other.textproto"}), &config).status().message(),
              HasSubstr("is a folder without a bundle none.zip"));
  EXPECT_THAT(SpecOfStudyFolder("nope/x", &config).status().message(), HasSubstr("nope/x: no such file or folder"));
  EXPECT_FALSE(config.deployment.has_store());
}

TEST(StudyFolder, WithoutABundleTheStoreIsUnchanged) {
  RunConfig config;
  const std::string folder = Folder("small", {"small.textproto"});
  for (const std::string& argument : {folder, folder + "/"}) {
    EXPECT_EQ(SpecOfStudyFolder(argument, &config).value(), JoinPath(folder, "small.textproto"));
  }
  EXPECT_FALSE(config.deployment.has_store());
}

// The only bundle of a folder names its spec, whatever the folder is called.
TEST(StudyFolder, MayBeRenamed) {
  const std::string folder = Folder("renamed", {"pets.textproto", "other.textproto"});
  const Store store(folder + "-store");
  const TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  ASSERT_TRUE(store.CommitRecord(record).ok());
  ASSERT_TRUE(WriteBundle(store, {record.trial_id()}, folder + "/pets.zip").ok());
  RunConfig config;
  EXPECT_EQ(SpecOfStudyFolder(folder + "/", &config).value(), folder + "/pets.textproto");
  EXPECT_EQ(config.deployment.store(), folder + "/pets.zip");
  std::filesystem::remove(folder + "/pets.textproto");
  RunConfig records;
  EXPECT_EQ(SpecOfStudyFolder(folder, &records).value(), folder);
}

TEST(StudyFolder, RefusesAFileThatIsNotABundleAndALinkToItself) {
  std::filesystem::create_symlink("loop.zip", JoinPath(Folder("loop", {"loop.textproto"}), "loop.zip"));
  for (const std::string& folder :
       {Folder("broken", {"broken.textproto", "broken.zip"}), JoinPath(::testing::TempDir(), "loop")}) {
    RunConfig config;
    const std::string bundle = JoinPath(folder, std::filesystem::path(folder).filename().string()) + ".zip";
    EXPECT_THAT(SpecOfStudyFolder(folder, &config).value(), HasSubstr(".textproto"));
    EXPECT_EQ(config.deployment.store(), bundle);
    EXPECT_THAT(OpenStore(config, StoreUse::kRead).status().message(), HasSubstr(bundle));
  }
}

TEST(StudyFolder, ABundleReplacesTheStore) {
  RunConfig config;
  const std::string folder = Folder("both", {"both.textproto", "both.zip"});
  config.store = "mine";
  EXPECT_THAT(SpecOfStudyFolder(folder, &config).status().message(), HasSubstr("--store"));
}

}  // namespace
}  // namespace openset
