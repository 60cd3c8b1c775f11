#include "core/files/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(TemporaryName, OfThisProcess) {
  for (const char* name : {"a", "a.rec", "a.tmp.b", "a b", ".a", "claim"}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(TemporaryName(name));
    ASSERT_TRUE(owner.has_value()) << name;
    EXPECT_TRUE(owner->IsHere()) << name;
    EXPECT_EQ(owner->pid, getpid()) << name;
  }
}

TEST(TemporaryName, OfOthers) {
  for (const char* name : {"a.tmp.node.0123abcd.17.0", "a.tmp.node7.cluster.example.org.0123abcd.17.0",
                           "a.tmp.a.tmp.b.0123abcd.17.18446744073709551615", "a.tmp.1.2.0123abcd.17.3"}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(name);
    ASSERT_TRUE(owner.has_value()) << name;
    EXPECT_FALSE(owner->IsHere()) << name;
    EXPECT_EQ(owner->pid, 17) << name;
  }
  // Another process space of this host, and the same process space of another host, are not ours.
  const std::string here = absl::StrCat(HostName(), ".", ProcessSpace());
  for (const std::string& place : {absl::StrCat(HostName(), ".00000000"), absl::StrCat("x", here)}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(absl::StrCat("a.tmp.", place, ".1.2"));
    ASSERT_TRUE(owner.has_value()) << place;
    EXPECT_FALSE(owner->IsHere()) << place;
  }
}

TEST(TemporaryName, NamesOfUsersFilesAreNotTemporary) {
  for (const char* name : {"",
                           ".",
                           "my.tmp.notes",
                           "thesis.tmp.2024",
                           "thesis.tmp.2024.11.22.1",
                           "a.tmp.node.1.0",
                           "a.tmp.0123abcd.1.0",
                           ".tmp.node.0123abcd.1.0",
                           "a.tmp..0123abcd.1.0",
                           "a.tmp.node.0123ABCD.1.0",
                           "a.tmp.node.123abcd.1.0",
                           "a.tmp.node.00123abcd.1.0",
                           "a.tmp.node.0123abcd.0.0",
                           "a.tmp.node.0123abcd.-1.0",
                           "a.tmp.node.0123abcd.01.0",
                           "a.tmp.node.0123abcd.1.",
                           "a.tmp.node.0123abcd.1.00",
                           "a.tmp.node.0123abcd.1.+1",
                           "a.tmp.node.0123abcd. 1.0",
                           "a.tmp.node.0123abcd.2147483648.0",
                           "a.tmp.node.0123abcd.1.18446744073709551616",
                           "a.tmp.node.0123abcd.1.0.log",
                           "a.tmp.no de.0123abcd.1.0",
                           "a.tmp.n\xff"
                           "de.0123abcd.1.0",
                           "a.temp.node.0123abcd.1.0",
                           "a.node.0123abcd.1.0"}) {
    EXPECT_FALSE(OwnerOfTemporary(name).has_value()) << name;
  }
}

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
    ASSERT_OK_AND_ASSIGN(TemporaryFolder folder, TemporaryFolder::Make("figures"));
    EXPECT_THAT(folder.path(), StartsWith(above_ + "/openset-figures-"));
    struct stat info;
    ASSERT_EQ(stat(folder.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::filesystem::create_directories(folder.path() + "/a/b");
    std::ofstream(folder.path() + "/a/b/file") << "x";
    const TemporaryFolder moved = std::move(folder);
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
