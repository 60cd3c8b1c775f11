#include "core/files/temporary_folder.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

class TemporaryFolderTest : public ::testing::Test {
 protected:
  TemporaryFolderTest() {
    std::filesystem::remove_all(above_);
    std::filesystem::create_directories(above_);
    setenv("TMPDIR", above_.c_str(), 1);
  }

  const std::string above_ = JoinPath(testing::TempDir(), "above");
};

TEST_F(TemporaryFolderTest, OnlyTheUserCanReadIt) {
  {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Make("figures");
    ASSERT_THAT(folder, IsOk());
    EXPECT_THAT(folder->path(), StartsWith(above_ + "/openset-figures-"));
    struct stat info;
    ASSERT_EQ(stat(folder->path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::filesystem::create_directories(folder->path() + "/a/b");
    std::ofstream(folder->path() + "/a/b/file") << "x";
    const TemporaryFolder moved = *std::move(folder);
    EXPECT_TRUE(FileExists(moved.path()));
  }
  EXPECT_THAT(*ListFolder(above_), IsEmpty());
}

TEST_F(TemporaryFolderTest, NamesAreDrawn) {
  std::set<std::string> paths;
  std::vector<TemporaryFolder> folders;
  for (int i = 0; i < 20; ++i) {
    folders.push_back(*TemporaryFolder::Make("x"));
    paths.insert(folders.back().path());
  }
  EXPECT_EQ(paths.size(), 20);
}

TEST_F(TemporaryFolderTest, ErrorsNameTheParentFolder) {
  setenv("TMPDIR", (above_ + "/none").c_str(), 1);
  EXPECT_THAT(TemporaryFolder::Make("x"), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace openset
