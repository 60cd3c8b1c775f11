
#include "tools/cli/flags/flags.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/flags/run_config.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

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
  for (const std::string& argument :
       {std::string("quickstart"), std::string(""), Folder("none", {"other.textproto"})}) {
    EXPECT_EQ(SpecOfStudyFolder(argument, &config).value(), argument);
  }
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

TEST(StudyFolder, RefusesAFileThatIsNotABundle) {
  RunConfig config;
  const std::string folder = Folder("broken", {"broken.textproto", "broken.zip"});
  EXPECT_THAT(SpecOfStudyFolder(folder, &config).status().message(), HasSubstr("broken.zip"));
  EXPECT_FALSE(config.deployment.has_store());
}

TEST(StudyFolder, RefusesABundleThatLinksToItself) {
  RunConfig config;
  const std::string folder = Folder("loop", {"loop.textproto"});
  std::filesystem::create_symlink("loop.zip", JoinPath(folder, "loop.zip"));
  EXPECT_THAT(SpecOfStudyFolder(folder, &config).status().message(), HasSubstr("loop.zip"));
  EXPECT_FALSE(config.deployment.has_store());
}

TEST(StudyFolder, ABundleReplacesTheStore) {
  RunConfig config;
  const std::string folder = Folder("both", {"both.textproto", "both.zip"});
  config.store = "mine";
  EXPECT_THAT(SpecOfStudyFolder(folder, &config).status().message(), HasSubstr("--store"));
}

}  // namespace
}  // namespace openset
