#include "data/fetch/folder_below.h"

#include <sys/stat.h>

#include <filesystem>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class FolderBelowTest : public ::testing::Test {
 protected:
  FolderBelowTest() {
    std::filesystem::remove_all(root_);
    WriteTestFile("below/from/d/a", "a");
    WriteTestFile("below/to/old", "old");
  }
  std::string In(const std::string& path) { return JoinPath(root_, path); }
  OpenFolder Open(const std::string& path) { return OpenFolder::Open(In(path)).value(); }
  absl::Status Move() { return MoveInto(Open("from"), Open("to")); }

  const std::string root_ = JoinPath(::testing::TempDir(), "below");
};

TEST_F(FolderBelowTest, CreatesMissingFolders) {
  EXPECT_THAT(Open("to").Below("x/./y"), IsOk());
  EXPECT_THAT(Open("to").Below(""), IsOk());
  EXPECT_TRUE(std::filesystem::is_directory(In("to/x/y")));
  EXPECT_THAT(Open("to").Below("x/../y"), IsInvalidArgument("has '..' in it"));
  EXPECT_THAT(Open("to").Below("old/x"), IsFailedPrecondition("old is in the way"));
  std::filesystem::create_directory_symlink(".", In("to/link"));
  EXPECT_THAT(Open("to").Below("link/x"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(OpenFolder::Open(In("none")), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(FolderBelowTest, MergesFoldersAndReplacesFiles) {
  WriteTestFile("below/to/d/a", "another");
  WriteTestFile("below/to/d/b", "b");
  ASSERT_THAT(Move(), IsOk());
  EXPECT_EQ(*ReadFile(In("to/d/a")), "a");
  EXPECT_EQ(*ReadFile(In("to/d/b")), "b");
  EXPECT_THAT(*ListFolder(In("to")), ElementsAre("d", "old"));
}

TEST_F(FolderBelowTest, ChecksEverythingBeforeMoving) {
  WriteTestFile("below/from/z/file", "z");
  for (const char* kind : {"link", "hard link", "pipe"}) {
    SCOPED_TRACE(kind);
    const std::string path = In("from/z/odd");
    std::filesystem::remove(path);
    if (std::string(kind) == "link") {
      std::filesystem::create_symlink("file", path);
    } else if (std::string(kind) == "pipe") {
      ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    } else {
      std::filesystem::create_hard_link(In("from/z/file"), path);
    }
    EXPECT_THAT(Move(), IsDataLoss("is a link, a pipe or a device"));
    EXPECT_THAT(*ListFolder(In("to")), ElementsAre("old"));
  }
}

TEST_F(FolderBelowTest, RemovesPermissions) {
  ASSERT_EQ(chmod(In("from/d/a").c_str(), 07777), 0);
  ASSERT_EQ(chmod(In("from/d").c_str(), 01777), 0);
  ASSERT_THAT(Move(), IsOk());
  struct stat info;
  ASSERT_EQ(stat(In("to/d/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0775);
  ASSERT_EQ(stat(In("to/d").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0775);
}

TEST_F(FolderBelowTest, AFolderAndAFileDoNotReplaceEachOther) {
  WriteTestFile("below/to/d", "a file");
  EXPECT_THAT(Move(), IsFailedPrecondition("to/d is in the way"));
  std::filesystem::remove(In("to/d"));
  std::filesystem::create_directories(In("to/d/a"));
  EXPECT_THAT(Move(), IsFailedPrecondition("to/d/a is in the way"));
}

}  // namespace
}  // namespace openset
