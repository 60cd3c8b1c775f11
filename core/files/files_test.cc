#include "core/files/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

#include "core/files/digest.h"
#include "core/files/system_calls.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(MakeFolders(folder_).ok());
  }
  std::string In(const std::string& name) const { return JoinPath(folder_, name); }

  std::string folder_;
};

TEST_F(FilesTest, AnAbsolutePathHasNoDots) {
  EXPECT_EQ(AbsolutePath("/a//b/./c/../d"), "/a/b/d");
  EXPECT_EQ(AbsolutePath("a"), JoinPath(std::filesystem::current_path().string(), "a"));
  EXPECT_EQ(AbsolutePath(""), "");
}

TEST_F(FilesTest, OnlyRegularFilesHaveASize) {
  ASSERT_TRUE(WriteFileAtomically(In("f"), "12345").ok());
  EXPECT_EQ(FileSize(In("f")), 5);
  EXPECT_EQ(FileSize(In("nothing")), 0);
  EXPECT_EQ(FileSize(folder_), 0);
}

TEST_F(FilesTest, AFileMayBeThereUnlessTheSystemSaysNo) {
  ASSERT_TRUE(WriteFileAtomically(In("f"), "12345").ok());
  std::filesystem::create_symlink("nothing", In("dangling"));
  std::filesystem::create_symlink("circle", In("circle"));
  EXPECT_EQ(LookForFile(In("f")).value(), true);
  for (const char* name : {"nothing", "f/below", "dangling"}) {
    EXPECT_EQ(LookForFile(In(name)).value(), false) << name;
    EXPECT_FALSE(FileExists(In(name))) << name;
  }
  EXPECT_EQ(LookForFile(In("circle")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(FileExists(In("circle")));
  const std::string too_long(300, 'x');
  EXPECT_EQ(LookForFile(In(too_long)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(FileExists(In(too_long)));
}

TEST_F(FilesTest, WritesAndReplacesWholeFiles) {
  const std::string binary("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(In("f"), binary).ok());
  EXPECT_EQ(*ReadFile(In("f")), binary);
  ASSERT_TRUE(WriteFileAtomically(In("f"), "").ok());
  EXPECT_EQ(*ReadFile(In("f")), "");
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("f"));
}

TEST_F(FilesTest, TheFirstCreatorWins) {
  EXPECT_TRUE(*CreateFileAtomically(In("f"), "first"));
  EXPECT_FALSE(*CreateFileAtomically(In("f"), "second"));
  EXPECT_EQ(*ReadFile(In("f")), "first");
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("f"));
}

TEST_F(FilesTest, OneOfManyCreatorsWins) {
  std::atomic<int> won{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { won += *CreateFileAtomically(In("f"), std::to_string(i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("f"));
}

TEST_F(FilesTest, ErrorsNameThePathAndLeaveNothing) {
  EXPECT_THAT(ReadFile(In("none")), IsNotFound(In("none") + ": No such file"));
  EXPECT_EQ(ReadFile(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ListFolder(In("none")).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteFileAtomically(In("file"), "x").ok());
  EXPECT_EQ(ListFolder(In("file")).status(),
            absl::InvalidArgumentError("cannot list " + In("file") + ": it is a file, not a folder"));
  EXPECT_EQ(ListFolder(In("file/below")).status().code(), absl::StatusCode::kNotFound);
  std::filesystem::remove(In("file"));

  EXPECT_THAT(WriteFileAtomically(In("none/f"), "x"), IsUnavailable("none/f"));

  // A folder instead of the file: the rename fails, and the temporary file is removed.
  ASSERT_TRUE(MakeFolders(In("taken/inside")).ok());
  EXPECT_EQ(WriteFileAtomically(In("taken"), "x").code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("taken"));
}

TEST_F(FilesTest, AListingThatFailsInTheMiddleIsAnError) {
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(WriteFileAtomically(In(name), "").ok());
  for (int entries = 0; entries < 5; ++entries) {  // of a, b, c, . and ..
    const FailingDisk failing(folder_, "EIO", "list", entries);
    EXPECT_EQ(ListFolder(folder_).status(),
              absl::UnavailableError("cannot list " + folder_ + ": " + std::strerror(EIO)));
  }
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("a", "b", "c"));
}

// Each call that reads fails once with each error: the result is an error of its kind or, if the call wasn't needed,
// right. It is never NotFound, nor DataLoss.
TEST_F(FilesTest, AnErrorIsNeitherAbsenceNorCorruption) {
  ASSERT_TRUE(WriteFileAtomically(In("f"), "content").ok());
  const std::map<std::string, absl::StatusCode> codes = {
      {"EACCES", absl::StatusCode::kPermissionDenied},  {"EPERM", absl::StatusCode::kPermissionDenied},
      {"EMFILE", absl::StatusCode::kResourceExhausted}, {"ENFILE", absl::StatusCode::kResourceExhausted},
      {"ENOMEM", absl::StatusCode::kResourceExhausted}, {"EAGAIN", absl::StatusCode::kResourceExhausted},
      {"EIO", absl::StatusCode::kUnavailable},          {"ESTALE", absl::StatusCode::kUnavailable},
      {"ETIMEDOUT", absl::StatusCode::kUnavailable},    {"ENOTCONN", absl::StatusCode::kUnavailable},
      {"EBUSY", absl::StatusCode::kUnavailable}};
  for (const auto& [error, code] : codes) {
    int failed = 0;
    const auto check = [&, code = code](const absl::Status& status, bool is_right) {
      EXPECT_EQ(status.code(), status.ok() ? absl::StatusCode::kOk : code) << status;
      EXPECT_TRUE(!status.ok() || is_right);
      failed += status.ok() ? 0 : 1;
    };
    for (int at = 0, calls = 1; calls > at; ++at) {
      const FailingDisk failing(folder_, error, "", at, 1);
      const absl::StatusOr<std::string> content = ReadFile(In("f"));
      check(content.status(), content.value_or("") == "content");
      calls = failing.calls() > at ? at + 2 : 0;  // until no call is left to fail
    }
    EXPECT_GE(failed, 3) << "open, look at, and read";
    for (int at = 0, calls = 1; calls > at; ++at) {
      const FailingDisk failing(folder_, error, "", at, 1);
      const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder_);
      check(names.status(), names.ok() && names->size() == 1);
      calls = failing.calls() > at ? at + 2 : 0;  // until no call is left to fail
    }
    EXPECT_GE(failed, 3 + 1 + 4) << "open, and read each name and the end";
    for (int at = 0, calls = 1; calls > at; ++at) {
      const FailingDisk failing(folder_, error, "", at, 1);
      const absl::StatusOr<std::string> digest = Sha256HexOfFile(In("f"));
      check(digest.status(), digest.value_or("") == Sha256Hex("content"));
      calls = failing.calls() > at ? at + 2 : 0;  // until no call is left to fail
    }
    const FailingDisk failing(folder_, error);
    check(LookForFile(In("f")).status(), false);
    check(LookForFile(In("none")).status(), false);
    EXPECT_TRUE(FileExists(In("none")));
  }
}

TEST_F(FilesTest, NoFileReplacesAPipeOrADevice) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0666), 0);
  for (const std::string& path : {In("pipe"), std::string("/dev/null"), std::string("/dev/stdout")}) {
    ASSERT_TRUE(WriteFileAtomically(In("f"), "x").ok());
    for (const absl::Status& status : {WriteFileAtomically(path, "x"), MoveFile(In("f"), path)}) {
      EXPECT_EQ(status, absl::InvalidArgumentError(path + ": is a pipe or a device: name a file"));
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(In("pipe")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("pipe"));
}

TEST_F(FilesTest, FoldersAreMadeOnceAndAFileInTheWayIsAnError) {
  EXPECT_TRUE(MakeFolders(In("a/b/c")).ok());
  EXPECT_TRUE(MakeFolders(In("a/b/c")).ok());
  ASSERT_TRUE(WriteFileAtomically(In("f"), "").ok());
  EXPECT_FALSE(MakeFolders(In("f/g")).ok());
  EXPECT_TRUE(SyncFolder(folder_).ok());
  EXPECT_FALSE(SyncFolder(In("none")).ok());
}

// Passes on each call and records the syncs. If requested, fails the call that gives the file its name, or the syncs.
class NotingCalls : public SystemCalls {
 public:
  int Sync(int fd, SyncOf what) override {
    ++syncs;
    errno = sync_error;
    return sync_error != 0 ? -1 : SystemCalls::Sync(fd, what);
  }
  int Link(const std::string& from, const std::string& to) override {
    return Fails() ? -1 : SystemCalls::Link(from, to);
  }
  int Rename(const std::string& from, const std::string& to) override {
    return Fails() ? -1 : SystemCalls::Rename(from, to);
  }

  int syncs = 0;
  int error = 0, sync_error = 0;

 private:
  bool Fails() const {
    errno = error;
    return error != 0;
  }
};

TEST_F(FilesTest, EphemeralFilesAreCompleteAndNotSynced) {
  NotingCalls calls;
  const ScopedSystemCalls scope(&calls);
  EXPECT_TRUE(*CreateNonDurableFile(In("claim"), "first", In("temporary")));
  EXPECT_FALSE(*CreateNonDurableFile(In("claim"), "second", In("temporary")));
  EXPECT_EQ(*ReadFile(In("claim")), "first");
  ASSERT_TRUE(WriteNonDurableFile(In("sign"), "1", In("temporary")).ok());
  ASSERT_TRUE(WriteNonDurableFile(In("sign"), "2", In("temporary")).ok());
  EXPECT_EQ(*ReadFile(In("sign")), "2");
  EXPECT_EQ(calls.syncs, 0);
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("claim", "sign"));
  // The content, and the name in the folder.
  ASSERT_TRUE(WriteFileAtomically(In("durable"), "x").ok());
  EXPECT_EQ(calls.syncs, 2);
}

TEST_F(FilesTest, AnEphemeralFileThatCannotBeNamedIsReportedAndRemoved) {
  NotingCalls calls;
  calls.error = EDQUOT;
  const ScopedSystemCalls scope(&calls);
  const std::string reason = std::strerror(EDQUOT);
  EXPECT_EQ(CreateNonDurableFile(In("claim"), "x", In("temporary")).status(),
            absl::UnavailableError("cannot link " + In("claim") + ": " + reason));
  EXPECT_EQ(WriteNonDurableFile(In("sign"), "x", In("temporary")),
            absl::UnavailableError("cannot rename to " + In("sign") + ": " + reason));
  EXPECT_EQ(WriteNonDurableFile(In("sign"), "x", In("none/temporary")),
            absl::UnavailableError("cannot create " + In("sign") + ": " + std::strerror(ENOENT)));
  EXPECT_THAT(*ListFolder(folder_), ElementsAre());
}

TEST_F(FilesTest, AFileThatCannotBeSyncedIsNotMovedAndIsRemoved) {
  NotingCalls calls;
  calls.sync_error = EIO;
  ASSERT_TRUE(ReserveFile(In("new.tmp"), In("new")).ok());
  const ScopedSystemCalls scope(&calls);
  EXPECT_EQ(MoveFile(In("new.tmp"), In("new")).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(*ListFolder(folder_), ElementsAre());
}

TEST_F(FilesTest, ANameIsReservedOnce) {
  EXPECT_TRUE(ReserveFile(In("new.tmp"), In("new")).ok());
  EXPECT_TRUE(FileExists(In("new.tmp")));
  ASSERT_TRUE(WriteFileAtomically(In("others"), "theirs").ok());
  std::filesystem::create_symlink(In("others"), In("link.tmp"));
  std::filesystem::create_symlink(In("nothing"), In("dangling.tmp"));
  for (const char* taken : {"new.tmp", "others", "link.tmp", "dangling.tmp"}) {
    const absl::Status status = ReserveFile(In(taken), In("new"));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << taken;
    EXPECT_THAT(status.message(), HasSubstr("cannot create " + In("new") + ": File exists"));
  }
  EXPECT_EQ(*ReadFile(In("others")), "theirs");
  EXPECT_FALSE(FileExists(In("nothing")));
}

TEST_F(FilesTest, TemporaryNamesDiffer) { EXPECT_NE(TemporaryName("x"), TemporaryName("x")); }

TEST_F(FilesTest, ReadsOnlyPipesFromTheCommandLine) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  const absl::Status refused = absl::DataLossError(In("pipe") + ": is a pipe or a device");
  EXPECT_EQ(ReadFile(In("pipe")).status(), refused);  // nobody writes to it
  EXPECT_EQ(ReadGivenFile(In("pipe")).status(), refused);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string content(10000, 'x');  // more than the first read
  ASSERT_EQ(write(ends[1], content.data(), content.size()), content.size());
  close(ends[1]);
  EXPECT_EQ(ReadGivenFile("/dev/fd/" + std::to_string(ends[0])).value_or("error"), content);
  close(ends[0]);
}

TEST_F(FilesTest, RefusesFilesAboveTheLimit) {
  ASSERT_TRUE(WriteFileAtomically(In("f"), "12345").ok());
  EXPECT_EQ(*ReadFile(In("f"), 5), "12345");
  EXPECT_EQ(ReadFile(In("f"), 4).status(),
            absl::DataLossError(In("f") + ": has 5 bytes, more than the 4 that such a file may have"));
  // A sparse file of four terabytes.
  ASSERT_EQ(truncate(In("f").c_str(), off_t{1} << 42), 0);
  EXPECT_EQ(ReadFile(In("f")).status().code(), absl::StatusCode::kDataLoss);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which end the process
  // There is not that much memory.
  const absl::Status no_memory = ReadFile(In("f"), int64_t{1} << 43).status();
  EXPECT_EQ(no_memory.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(no_memory.message()), HasSubstr("f: doesn't fit in memory ("));
#endif
  // A file that reports no size.
  EXPECT_THAT(std::string(ReadFile("/proc/self/stat", 4).status().message()), HasSubstr("more than the 4"));
}

}  // namespace
}  // namespace openset
