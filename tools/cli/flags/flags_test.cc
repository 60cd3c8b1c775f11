
#include "tools/cli/flags/flags.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/flags/deploy_flags.h"

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
  for (const std::string& argument :
       {std::string("quickstart"), std::string(""), Folder("none", {"other.textproto"})}) {
    EXPECT_EQ(SpecOfStudyFolder(argument).value(), argument);
  }
  EXPECT_EQ(absl::GetFlag(FLAGS_store), std::nullopt);
}

TEST(StudyFolder, WithoutABundleTheStoreIsUnchanged) {
  const std::string folder = Folder("small", {"small.textproto"});
  for (const std::string& argument : {folder, folder + "/"}) {
    EXPECT_EQ(SpecOfStudyFolder(argument).value(), JoinPath(folder, "small.textproto"));
  }
  EXPECT_EQ(absl::GetFlag(FLAGS_store), std::nullopt);
}

TEST(StudyFolder, RefusesAFileThatIsNotABundle) {
  const std::string folder = Folder("broken", {"broken.textproto", "broken.zip"});
  EXPECT_THAT(SpecOfStudyFolder(folder).status().message(), HasSubstr("broken.zip"));
  EXPECT_EQ(absl::GetFlag(FLAGS_store), std::nullopt);
}

TEST(StudyFolder, RefusesABundleThatLinksToItself) {
  const std::string folder = Folder("loop", {"loop.textproto"});
  std::filesystem::create_symlink("loop.zip", JoinPath(folder, "loop.zip"));
  EXPECT_THAT(SpecOfStudyFolder(folder).status().message(), HasSubstr("loop.zip"));
  EXPECT_EQ(absl::GetFlag(FLAGS_store), std::nullopt);
}

TEST(StudyFolder, ABundleReplacesTheStore) {
  const std::string folder = Folder("both", {"both.textproto", "both.zip"});
  absl::SetFlag(&FLAGS_store, "mine");
  EXPECT_THAT(SpecOfStudyFolder(folder).status().message(), HasSubstr("--store"));
  absl::SetFlag(&FLAGS_store, std::nullopt);
}

}  // namespace
}  // namespace openset
