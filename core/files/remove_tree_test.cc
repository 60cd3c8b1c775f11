#include "core/files/remove_tree.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

class RemoveTreeTest : public ::testing::Test {
 protected:
  RemoveTreeTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/kept");
    std::ofstream(folder_ + "/kept/file") << "kept";
  }

  const std::string folder_ =
      JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(RemoveTreeTest, RemovesFilesFoldersAndOthers) {
  fs::create_directories(folder_ + "/tree/a/b/c");
  std::ofstream(folder_ + "/tree/a/file") << "x";
  ASSERT_EQ(mkfifo((folder_ + "/tree/a/pipe").c_str(), 0600), 0);
  EXPECT_THAT(RemoveTree(folder_ + "/tree"), IsOk());
  EXPECT_FALSE(FileExists(folder_ + "/tree"));
  EXPECT_THAT(RemoveTree(folder_ + "/kept/file"), IsOk());
  EXPECT_FALSE(FileExists(folder_ + "/kept/file"));
}

TEST_F(RemoveTreeTest, AMissingEntryIsNoError) {
  EXPECT_THAT(RemoveTree(folder_ + "/none"), IsOk());
  EXPECT_THAT(RemoveTree(folder_ + "/none/below"), IsOk());
}

TEST_F(RemoveTreeTest, FollowsNoLink) {
  fs::create_directories(folder_ + "/tree/below");
  fs::create_symlink(folder_ + "/kept", folder_ + "/tree/folder");
  fs::create_symlink(folder_ + "/kept/file", folder_ + "/tree/below/file");
  fs::create_symlink("/nowhere", folder_ + "/tree/below/nowhere");
  EXPECT_THAT(RemoveTree(folder_ + "/tree"), IsOk());
  EXPECT_FALSE(FileExists(folder_ + "/tree"));
  fs::create_symlink(folder_ + "/kept", folder_ + "/link");
  EXPECT_THAT(RemoveTree(folder_ + "/link"), IsOk());
  EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ + "/link")));
  EXPECT_EQ(*ReadFile(folder_ + "/kept/file"), "kept");
}

TEST_F(RemoveTreeTest, NamesEntriesThatCannotBeRemoved) {
  EXPECT_THAT(RemoveTree("/proc/self/status"),
              StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("cannot remove status: ")));
}

std::string NewFolder() {
  const std::string folder = testing::TempDir() + "/staging";
  EXPECT_THAT(MakeFolders(folder + "/below"), IsOk());
  EXPECT_THAT(WriteFileAtomically(folder + "/below/file", "content"), IsOk());
  return folder;
}

TEST(FolderRemover, RemovesTheFolderAtTheEnd) {
  const std::string folder = NewFolder();
  {
    const FolderRemover remover(folder);
    EXPECT_EQ(remover.folder(), folder);
    EXPECT_TRUE(FileExists(folder + "/below/file"));
  }
  EXPECT_FALSE(FileExists(folder));
}

TEST(FolderRemover, LeavesAFolderThatWasMoved) {
  const std::string folder = NewFolder(), moved = testing::TempDir() + "/moved";
  {
    const FolderRemover remover(folder);
    ASSERT_THAT(MoveFolder(folder, moved), IsOk());
  }
  EXPECT_TRUE(FileExists(moved + "/below/file"));
}

}  // namespace
}  // namespace openset
