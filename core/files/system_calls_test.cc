#include "core/files/system_calls.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest_cache.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/files/remove_tree.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(ReadError, OnlyAMissingEntryIsNotFoundAndOnlyCircularLinksAreCorrupt) {
  const std::map<int, absl::StatusCode> codes = {
      {ENOENT, absl::StatusCode::kNotFound},          {ENOTDIR, absl::StatusCode::kNotFound},
      {EACCES, absl::StatusCode::kPermissionDenied},  {EPERM, absl::StatusCode::kPermissionDenied},
      {EMFILE, absl::StatusCode::kResourceExhausted}, {ENFILE, absl::StatusCode::kResourceExhausted},
      {ENOMEM, absl::StatusCode::kResourceExhausted}, {EAGAIN, absl::StatusCode::kResourceExhausted},
      {ELOOP, absl::StatusCode::kDataLoss},           {ENAMETOOLONG, absl::StatusCode::kInvalidArgument}};
  for (int error = 1; error < 134; ++error) {  // Linux has 133
    const auto code = codes.find(error);
    EXPECT_EQ(ReadError(error, "cannot open x"),
              absl::Status(code == codes.end() ? absl::StatusCode::kUnavailable : code->second,
                           std::string("cannot open x: ") + std::strerror(error)));
  }
}

TEST(IsDiskError, TellsAFullOrVanishedDiskByTheSystemsWords) {
  EXPECT_TRUE(IsDiskError(absl::UnavailableError("cannot write store/x: No space left on device")));
  EXPECT_TRUE(IsDiskError(absl::InternalError("cannot sync x: Disk quota exceeded; more")));
  EXPECT_TRUE(IsDiskError(absl::UnavailableError("cannot open x: Stale file handle")));
  EXPECT_FALSE(IsDiskError(absl::UnavailableError("cannot open x: Permission denied")));
  EXPECT_FALSE(IsDiskError(absl::AbortedError("the training diverged")));
  EXPECT_FALSE(IsDiskError(absl::OkStatus()));
}

namespace fs = std::filesystem;

// The paths and contents of all entries below a folder, and where links point to.
std::map<std::string, std::string> TreeOf(const std::string& folder) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string& content = tree[entry.path().string()];
    if (entry.is_symlink()) content = "link to " + fs::read_symlink(entry.path()).string();
    if (!entry.is_symlink() && entry.is_regular_file()) {
      std::ifstream file(entry.path());
      content.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  return tree;
}

class ClosedFolderTest : public ::testing::Test {
 protected:
  // The store `top`, which is a link to `real`, has real/room/ab/file. Outside are home/ab/file and home/file.
  void SetUp() override {
    folder_ = JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(In("real/room/ab"));
    fs::create_directories(In("home/ab"));
    fs::create_symlink("real", In("top"));
    for (const char* file : {"real/room/ab/file", "real/room/file", "home/ab/file", "home/file"}) {
      std::ofstream(In(file)) << file;
    }
    CloseFolders(In("top/"), {"room", "programs/*"});
  }
  std::string In(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  std::string folder_;
};

TEST_F(ClosedFolderTest, WithoutLinksEverythingIsAsElsewhere) {
  EXPECT_EQ(ReadFile(In("top/room/ab/file")).value(), "real/room/ab/file");
  EXPECT_EQ(ReadFile(In("top//room//ab/file")).value(), "real/room/ab/file");
  EXPECT_THAT(*ListFolder(In("top/room")), ::testing::ElementsAre("ab", "file"));
  EXPECT_EQ(FileSize(In("top/room/file")), 14);
  EXPECT_EQ(LookForFile(In("top/room/none")).value(), false);
  EXPECT_EQ(ReadFile(In("top/room/none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(In("top/room/file/none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ListFolder(In("top/room/file")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MakeFolders(In("top/room/cd/ef")), IsOk());
  EXPECT_THAT(WriteFileAtomically(In("top/room/cd/new"), "1"), IsOk());
  EXPECT_TRUE(*CreateFileAtomically(In("top/room/cd/created"), "2", In("top/room")));
  EXPECT_TRUE(*MoveFolder(In("top/room/cd"), In("top/room/moved")));
  EXPECT_THAT(SyncFolder(In("top/room/moved")), IsOk());
  EXPECT_EQ(ReadFile(In("real/room/moved/created")).value(), "2");
  EXPECT_THAT(RemoveTree(In("top/room/moved")), IsOk());
  EXPECT_THAT(*ListFolder(In("real/room")), ::testing::ElementsAre("ab", "file"));
}

TEST_F(ClosedFolderTest, OtherEntriesAndPathsFollowLinks) {
  fs::create_symlink(In("home"), In("top/images"));
  EXPECT_EQ(ReadFile(In("top/images/file")).value(), "home/file");
  fs::create_symlink(In("home"), In("real/room/link"));
  EXPECT_EQ(ReadFile(In("real/room/link/file")).value(), "home/file");  // not by the path that is closed
  EXPECT_THAT(CheckNoLink(In("real/room/link/file")), IsOk());
}

// A link in place of the closed entry, of a folder below, and of the file, to a folder or file with the same names:
// every function refuses, names the link and changes nothing anywhere.
TEST_F(ClosedFolderTest, NoFunctionFollowsALink) {
  const std::vector<std::pair<std::string, std::string>> links = {// the link and its target
                                                                  {"room", "home"},
                                                                  {"room/ab", "home/ab"},
                                                                  {"room/ab/file", "home/ab/file"},
                                                                  {"room/ab", "real/room/other"}};
  for (const auto& [link, target] : links) {
    SetUp();
    fs::create_directories(In("real/room/other"));
    fs::remove_all(In("real/" + link));
    fs::create_symlink(In(target), In("real/" + link));
    const auto before = TreeOf(folder_);
    const std::string file = In("top/room/ab/file"), folder = In("top/room/ab");
    std::vector<absl::Status> results = {
        ReadFile(file).status(),    OpenRegularFile(file).status(),
        LookForFile(file).status(), WriteFileAtomically(file, "x"),
        CheckNoLink(file),          DigestCache(In("cache"), 1).Sha256Hex(file).status(),
    };
    if (link != "room/ab/file") {
      fs::create_directories(In("new"));
      const auto with_new = TreeOf(folder_);
      for (const absl::Status& status :
           {ListFolder(folder).status(), MakeFolders(folder), MakeFolders(folder + "/more"), SyncFolder(folder),
            CreateFileAtomically(folder + "/new", "x").status(),
            CreateFileAtomically(folder + "/new", "x", In("new")).status(),
            ReserveFile(folder + "/new.tmp", folder + "/new"),
            WriteNonDurableFile(folder + "/new", "x", folder + "/temporary"),
            CreateNonDurableFile(folder + "/new", "x", folder + "/temporary").status(),
            MoveFolder(In("new"), folder + "/new").status(), RemoveTree(file)}) {
        results.push_back(status);
      }
      EXPECT_EQ(TreeOf(folder_), with_new);
      fs::remove(In("new"));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_THAT(results[i], StatusIs(absl::StatusCode::kPermissionDenied,
                                       HasSubstr(In("top/" + link) + ": is a link; openset follows no link below")))
          << i;
    }
    EXPECT_TRUE(FileExists(file));
    EXPECT_EQ(FileSize(file), 0);
    EXPECT_EQ(TreeOf(folder_), before);
  }
}

TEST_F(ClosedFolderTest, DanglingAndCircularLinksAreLinksToo) {
  fs::create_symlink("nothing", In("real/room/dangling"));
  fs::create_symlink("circle", In("real/room/circle"));
  for (const char* name : {"dangling", "circle"}) {
    const std::string path = absl::StrCat(In("top/room/"), name);
    for (const absl::Status& status :
         {ReadFile(path).status(), ListFolder(path).status(), LookForFile(path).status(), MakeFolders(path)}) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr(": is a link; ")));
    }
  }
}

TEST_F(ClosedFolderTest, AFolderMayBeClosedOnlyAtTheTop) {
  fs::create_directories(In("real/programs/copy"));
  fs::create_symlink(In("home/file"), In("real/programs/copy/file"));
  EXPECT_EQ(ReadFile(In("top/programs/copy/file")).value(), "home/file");
  fs::create_symlink("copy", In("real/programs/other"));
  EXPECT_EQ(ListFolder(In("top/programs/other")).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(ClosedFolderTest, ALinkItselfIsRemovedNeverItsTarget) {
  fs::create_symlink(In("home"), In("real/room/link"));
  EXPECT_THAT(RemoveTree(In("top/room/link")), IsOk());
  EXPECT_FALSE(fs::is_symlink(In("real/room/link")));
  EXPECT_EQ(ReadFile(In("home/ab/file")).value(), "home/ab/file");
}

// openat2() and the walk that replaces it on old systems agree.
TEST_F(ClosedFolderTest, WalkingGivesTheSameFilesAndErrors) {
  fs::create_symlink("ab", In("real/room/link"));
  fs::create_symlink("nothing", In("real/room/dangling"));
  const int top = open(In("real").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(top, 0);
  for (const char* path : {"room", "room/ab", "room/ab/file", "room/none", "none/file", "room/file/x", "room/link",
                           "room/link/file", "room/dangling", "room//ab", "room/./ab"}) {
    for (const int flags : {O_RDONLY, O_RDONLY | O_DIRECTORY, O_PATH, O_PATH | O_DIRECTORY, O_WRONLY,
                            O_RDONLY | O_NOFOLLOW, O_WRONLY | O_CREAT | O_EXCL}) {
      struct stat a = {}, b = {};
      const int by_call = closed_folder_internal::OpenBelow(top, path, flags | O_CLOEXEC, 0600);
      const int error = by_call < 0 ? errno : 0;
      if (error == 0 && (flags & O_CREAT) != 0) fs::remove(absl::StrCat(In("real/"), path));
      const int by_walking = closed_folder_internal::OpenBelowByWalking(top, path, flags | O_CLOEXEC, 0600);
      const int error_by_walking = by_walking < 0 ? errno : 0;
      if (error_by_walking == 0 && (flags & O_CREAT) != 0) fs::remove(absl::StrCat(In("real/"), path));
      EXPECT_EQ(error, error_by_walking) << path << " " << flags;
      if (by_call >= 0 && by_walking >= 0 && (flags & O_CREAT) == 0) {
        EXPECT_EQ(fstat(by_call, &a) + fstat(by_walking, &b), 0);
        EXPECT_EQ(a.st_ino, b.st_ino);
      }
      if (by_call >= 0) close(by_call);
      if (by_walking >= 0) close(by_walking);
    }
  }
  close(top);
}

}  // namespace
}  // namespace openset
