#include "core/testing/fault_calls.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string NewFolder(const std::string& name) {
  const std::string folder =
      absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name(), name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// The names and contents of a folder's entries, in order: "a=1 b=2 ".
std::string ContentOf(const std::string& folder) {
  std::set<std::string> entries;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    entries.insert(absl::StrCat(entry.path().filename().string(), "=", content, " "));
  }
  std::string all;
  for (const std::string& entry : entries) all += entry;
  return all;
}

void Write(UnsafeDisk* disk, const std::string& path, const std::string& content, bool sync) {
  const int fd = disk->Open(path, O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(disk->Write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  if (sync) {
    ASSERT_EQ(disk->Sync(fd, SyncOf::kFile), 0);
  }
  disk->Close(fd);
}

void SyncNames(UnsafeDisk* disk, const std::string& folder) {
  const int fd = disk->Open(folder, O_RDONLY | O_DIRECTORY, 0);
  ASSERT_EQ(disk->Sync(fd, SyncOf::kLinkedName), 0);
  disk->Close(fd);
}

// The different contents of 100 possible disks. With the probabilities below, a possible content is missed with a
// probability of less than 10^-12.
std::set<std::string> Restored(const UnsafeDisk& disk) {
  std::set<std::string> contents;
  for (int seed = 0; seed < 100; ++seed) {
    RandomStream random(seed, "disk");
    const std::string target = NewFolder("_restored");
    disk.Restore(target, &random);
    contents.insert(ContentOf(target));
  }
  return contents;
}

TEST(UnsafeDisk, KeepsWhatWasSynced) {
  const std::string folder = NewFolder("");
  UnsafeDisk disk(folder);
  Write(&disk, folder + "/a", "1", /*sync=*/true);
  SyncNames(&disk, folder);
  EXPECT_THAT(Restored(disk), UnorderedElementsAre("a=1 "));
}

TEST(UnsafeDisk, MayLoseAName) {
  const std::string folder = NewFolder("");
  UnsafeDisk disk(folder);
  Write(&disk, folder + "/a", "1", /*sync=*/true);
  EXPECT_THAT(Restored(disk), UnorderedElementsAre("", "a=1 "));
}

TEST(UnsafeDisk, MayLoseBytesOrHaveZerosForThem) {
  const std::string folder = NewFolder("");
  UnsafeDisk disk(folder);
  Write(&disk, folder + "/a", "1", /*sync=*/false);
  SyncNames(&disk, folder);
  EXPECT_THAT(Restored(disk), UnorderedElementsAre("a= ", "a=1 ", absl::StrCat("a=", std::string(1, '\0'), " ")));
}

// The second of two renames may be on the disk without the first.
TEST(UnsafeDisk, MayReorderRenames) {
  const std::string folder = NewFolder("");
  UnsafeDisk disk(folder);
  for (const char* name : {"a", "b"}) Write(&disk, absl::StrCat(folder, "/", name), "old", /*sync=*/true);
  SyncNames(&disk, folder);
  for (const char* name : {"a", "b"}) {
    Write(&disk, absl::StrCat(folder, "/", name, ".new"), "new", /*sync=*/true);
    ASSERT_EQ(disk.Rename(absl::StrCat(folder, "/", name, ".new"), absl::StrCat(folder, "/", name)), 0);
  }
  EXPECT_THAT(Restored(disk), UnorderedElementsAre("a=old b=old ", "a=new b=old ", "a=old b=new ", "a=new b=new "));
}

TEST(UnsafeDisk, FailsAfterTheCut) {
  const std::string folder = NewFolder("");
  UnsafeDisk disk(folder);
  disk.CutAfter(3);
  Write(&disk, folder + "/a", "1", /*sync=*/true);  // three calls; the last one, to close, fails
  EXPECT_TRUE(disk.is_cut());
  EXPECT_EQ(disk.Unlink(folder + "/a"), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(ContentOf(folder), "a=1 ");
}

TEST(FailingCalls, FailOnceOrForEver) {
  const std::string folder = NewFolder("");
  for (const bool for_ever : {false, true}) {
    FailingCalls calls(FailingCalls::Fault::kError, ENOSPC, 1, for_ever);
    EXPECT_EQ(calls.MakeFolder(absl::StrCat(folder, "/a", for_ever), 0700), 0);
    EXPECT_EQ(calls.MakeFolder(absl::StrCat(folder, "/b", for_ever), 0700), -1);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_EQ(calls.MakeFolder(absl::StrCat(folder, "/c", for_ever), 0700), for_ever ? -1 : 0);
    EXPECT_EQ(calls.calls(), 3);
  }
}

TEST(FailingCalls, WriteShort) {
  const std::string folder = NewFolder("");
  FailingCalls calls(FailingCalls::Fault::kShortWrite, 0, 1, /*for_ever=*/false);
  const int fd = calls.Open(folder + "/a", O_WRONLY | O_CREAT, 0600);
  EXPECT_EQ(calls.Write(fd, "abc", 3), 1);
  EXPECT_EQ(calls.Write(fd, "bc", 2), 2);
  EXPECT_EQ(calls.Close(fd), 0);
  EXPECT_EQ(ContentOf(folder), "a=abc ");
}

}  // namespace
}  // namespace openset
