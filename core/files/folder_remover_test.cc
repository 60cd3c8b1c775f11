#include "core/files/folder_remover.h"

#include <string>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

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
