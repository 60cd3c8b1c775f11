#include "experiments/engine/slurm/program_copy.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/logging.h"
#include "core/process/subprocess.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

// Runfiles as Bazel makes them: links to built or fetched files.
class ProgramCopyTest : public ::testing::Test {
 protected:
  ProgramCopyTest()
      : folder_(JoinPath(::testing::TempDir(), ::testing::UnitTest::GetInstance()->current_test_info()->name())),
        store_(folder_ + "/store") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    folder_ = fs::canonical(folder_).string();
    Add("openset/tools/program", "program");
    Add("openset/experiments/methods/plain.textproto", "method");
    Add("openset/_solib/lib.so", "library");
    fs::resize_file(folder_ + "/built/lib.so", kLinkedBytes);
    setenv("HOME", (folder_ + "/home").c_str(), 1);
  }

  void Add(const std::string& path, const std::string& content) const {
    const std::string name = fs::path(path).filename(), link = folder_ + "/runfiles/" + path;
    Build(name, content);
    fs::create_directories(fs::path(link).parent_path());
    fs::create_symlink(folder_ + "/built/" + name, link);
  }

  // Like Bazel, replaces existing files.
  void Build(const std::string& name, const std::string& content) const {
    fs::create_directories(folder_ + "/built");
    fs::remove(folder_ + "/built/" + name);
    std::ofstream(folder_ + "/built/" + name) << content;
  }

  absl::StatusOr<ProgramCopy> Copy(const std::vector<std::string>& others = {}) const {
    return CopyProgram(store_, folder_ + "/runfiles", folder_ + "/built/program", others);
  }

  // Returns what is wrong with the copy, without the folder's name.
  static std::string Problem(const ProgramCopy& copy) {
    const absl::Status status = CheckProgram(copy);
    EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
    return status.ok() ? "" : std::string(status.message()).substr(copy.folder.size() + 2);
  }

  std::string folder_;
  const Store store_;
};

TEST_F(ProgramCopyTest, HasTheSameFilesUnderTheDigestOfTheirList) {
  ASSERT_OK_AND_ASSIGN(const ProgramCopy copy, Copy());
  EXPECT_EQ(copy.folder, JoinPath(store_.folder(), "programs/" + copy.sha256));
  EXPECT_EQ(copy.program, copy.folder + "/program.runfiles/openset/tools/program");
  EXPECT_EQ(*ReadFile(copy.program), "program");
  EXPECT_FALSE(fs::is_symlink(copy.program));
  EXPECT_EQ(*ReadFile(copy.folder + "/program.runfiles/openset/experiments/methods/plain.textproto"), "method");
  const std::string sums = *ReadFile(copy.folder + "/files.sha256");
  EXPECT_EQ(Sha256Hex(sums), copy.sha256);
  EXPECT_THAT(sums, HasSubstr(Sha256Hex("program") + "  program.runfiles/openset/tools/program\n"));
  // A large file is hard-linked: it is the same file.
  const std::string library = copy.folder + "/program.runfiles/openset/_solib/lib.so";
  EXPECT_TRUE(fs::equivalent(library, folder_ + "/built/lib.so"));
  EXPECT_EQ(*ReadFile(copy.folder + "/linked"),
            absl::StrCat(*Sha256HexOfFile(library), "  program.runfiles/openset/_solib/lib.so\n"));
  EXPECT_EQ(Problem(copy), "");
  EXPECT_THAT(*ListFolder(store_.folder() + "/tmp"), IsEmpty());
}

TEST_F(ProgramCopyTest, EqualProgramsAreStoredOnce) {
  const ProgramCopy first = *Copy();
  EXPECT_EQ(Copy()->folder, first.folder);
  EXPECT_THAT(*ListFolder(store_.folder() + "/programs"), SizeIs(1));
  Build("plain.textproto", "changed");
  const ProgramCopy second = *Copy();
  EXPECT_THAT(*ListFolder(store_.folder() + "/programs"), SizeIs(2));
  EXPECT_EQ(Problem(first), "");
  EXPECT_EQ(Problem(second), "");
  EXPECT_EQ(*ReadFile(first.folder + "/program.runfiles/openset/experiments/methods/plain.textproto"), "method");
}

TEST_F(ProgramCopyTest, EveryDefectIsNamed) {
  const std::string program = "program.runfiles/openset/tools/program",
                    library = "program.runfiles/openset/_solib/lib.so";
  const ProgramCopy copy = *Copy();
  fs::resize_file(JoinPath(copy.folder, program), 3);
  EXPECT_THAT(Problem(copy), HasSubstr(program + ": FAILED"));
  // The next user of the copy replaces it.
  ASSERT_EQ(Copy()->folder, copy.folder);
  EXPECT_EQ(Problem(copy), "");
  fs::remove(JoinPath(copy.folder, program));
  EXPECT_THAT(Problem(copy), HasSubstr(program + ": FAILED"));
  ASSERT_TRUE(Copy().ok());
  for (const char* list : {"files.sha256", "linked"}) {
    std::ofstream(JoinPath(copy.folder, list), std::ios::trunc) << "";
    EXPECT_THAT(Problem(copy), HasSubstr(absl::StrCat(list, ": FAILED")));
    ASSERT_TRUE(Copy().ok());
  }
  // A replaced library keeps its old content here; one that is overwritten does not.
  fs::rename(folder_ + "/built/lib.so", folder_ + "/old.so");
  EXPECT_EQ(Problem(copy), "");
  fs::resize_file(folder_ + "/old.so", kLinkedBytes + 1);
  EXPECT_THAT(Problem(copy), HasSubstr(library + ": FAILED"));
  // A file that is linked by its path and has been removed.
  fs::remove(JoinPath(copy.folder, library));
  fs::create_symlink(folder_ + "/built/lib.so", JoinPath(copy.folder, library));
  EXPECT_THAT(Problem(copy), HasSubstr(library + ": FAILED"));
  fs::remove_all(copy.folder);
  EXPECT_THAT(Problem(copy), HasSubstr("No such file or directory"));
}

// LibTorch with other code of the same size and with the same settable time.
TEST_F(ProgramCopyTest, ALinkedFileOfTheSameSizeAndTimeIsRefused) {
  const std::string library = folder_ + "/built/lib.so";
  const auto built = fs::file_time_type::clock::now() - std::chrono::hours(24);
  fs::last_write_time(library, built);
  const ProgramCopy copy = *Copy();
  EXPECT_EQ(Problem(copy), "");
  EXPECT_EQ(Problem(copy), "");
  std::fstream(library, std::ios::in | std::ios::out | std::ios::binary).seekp(kLinkedBytes / 2).put('x');
  fs::last_write_time(library, built);
  EXPECT_THAT(Problem(copy), HasSubstr("program.runfiles/openset/_solib/lib.so: FAILED"));
}

// A node hashes a linked file once. The cache depends on the file's state.
TEST_F(ProgramCopyTest, DigestsOfLinkedFilesAreCached) {
  const std::string remembered = folder_ + "/home/.cache/openset/programs";
  const ProgramCopy copy = *Copy();
  // `date` as it is when the file changes, and a minute later.
  const std::string date = folder_ + "/bin/date";
  const auto set_date = [&](int64_t seconds) {
    std::ofstream(date, std::ios::trunc) << "#!/bin/sh\necho " << seconds << "\n";
    fs::permissions(date, fs::perms::owner_all);
  };
  fs::create_directories(folder_ + "/bin");
  const std::string path = std::getenv("PATH");
  setenv("PATH", absl::StrCat(folder_, "/bin:", path).c_str(), 1);
  const absl::Cleanup reset = [&path] { setenv("PATH", path.c_str(), 1); };
  const int64_t changed = StateOf(folder_ + "/built/lib.so").changed_at_seconds;
  set_date(changed + 2);
  EXPECT_EQ(Problem(copy), "");
  EXPECT_FALSE(FileExists(remembered));  // the file may change again within the same tick of the clock
  set_date(changed + 60);
  EXPECT_EQ(Problem(copy), "");
  ASSERT_THAT(*ListFolder(remembered), SizeIs(1));
  // While it is cached, it is not read.
  const std::string library = JoinPath(copy.folder, "program.runfiles/openset/_solib/lib.so");
  EXPECT_EQ(Problem(copy), "");
  EXPECT_THAT(*ListFolder(remembered), SizeIs(1));
  std::fstream(library, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put('x');
  EXPECT_THAT(Problem(copy), HasSubstr("lib.so: FAILED"));
  unsetenv("HOME");
  EXPECT_THAT(Problem(copy), HasSubstr("lib.so: FAILED"));
}

// An extra library would be found before the right one, if a program searches its folder.
TEST_F(ProgramCopyTest, ExtraFilesAreRefused) {
  const ProgramCopy copy = *Copy();
  const std::string runfiles = copy.folder + "/program.runfiles/openset/";
  for (const char* name : {"_solib/libc.so.6", "experiments/methods/mine.textproto", ".hidden", "a b"}) {
    std::ofstream(runfiles + name) << "x";
    EXPECT_THAT(Problem(copy), HasSubstr(absl::StrCat(name, ": FAILED, not part of the copy")));
    fs::remove(runfiles + name);
  }
  fs::create_directory_symlink(folder_, runfiles + "link");
  EXPECT_THAT(Problem(copy), HasSubstr("link: FAILED, not part of the copy"));
  fs::remove(runfiles + "link");
  EXPECT_EQ(Problem(copy), "");
  std::ofstream(runfiles + "more") << "x";
  ASSERT_TRUE(Copy().ok());  // made again
  EXPECT_EQ(Problem(copy), "");
  EXPECT_FALSE(FileExists(runfiles + "more"));
}

TEST_F(ProgramCopyTest, ACopyIsAsPrivateAsTheStore) {
  const mode_t before = umask(077);
  const absl::StatusOr<ProgramCopy> copy = Copy();
  umask(before);
  ASSERT_TRUE(copy.ok()) << copy.status();
  for (const auto& entry : fs::recursive_directory_iterator(store_.folder())) {
    if (entry.path().filename() == "lib.so") continue;  // a link to a file outside
    EXPECT_EQ(fs::status(entry).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none)
        << entry.path();
  }
}

TEST_F(ProgramCopyTest, ChecksTheProgramsOutsideOfTheCopy) {
  Build("my worker", "mine");
  const std::string worker = folder_ + "/built/my worker";
  const ProgramCopy copy = *Copy({worker});
  EXPECT_NE(copy.sha256, Copy()->sha256);
  EXPECT_EQ(Problem(copy), "");
  Build("my worker", "another");
  EXPECT_THAT(Problem(copy), HasSubstr(worker + ": FAILED"));
  EXPECT_EQ(Copy({folder_ + "/built/none"}).status(),
            absl::NotFoundError(absl::StrCat("cannot read ", folder_, "/built/none: No such file or directory")));
}

TEST_F(ProgramCopyTest, AProgramThatWasRebuiltMeanwhileIsRefused) {
  fs::rename(folder_ + "/built/program", folder_ + "/built/program (deleted)");
  Build("program", "anew");
  const absl::Status status = CopyProgram(store_, folder_ + "/runfiles", folder_ + "/built/program (deleted)").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("it was rebuilt; run the same command again"));
  EXPECT_FALSE(FileExists(store_.folder() + "/programs"));
}

TEST_F(ProgramCopyTest, ACopyThatCannotBeCheckedStays) {
  ASSERT_OK_AND_ASSIGN(const ProgramCopy copy, Copy());
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(std::string(Copy().status().message()), HasSubstr("bash"));
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(FileExists(copy.program));
  EXPECT_TRUE(Copy().ok());
}

TEST_F(ProgramCopyTest, AStoreThatCannotBeWrittenIsNamed) {
  std::ofstream(store_.folder()) << "a file";
  EXPECT_THAT(std::string(Copy().status().message()), HasSubstr(store_.folder()));
}

// This test's own program: its copy is started, and each library it uses must be the system's or the copy's.
TEST_F(ProgramCopyTest, FindsItsLibraries) {
  LOG(INFO) << "by glog, a library that is not the system's";
  ASSERT_OK_AND_ASSIGN(const ProgramCopy copy, CopyProgram(store_, *RunfilesFolder(), ProgramPath()));
  const absl::StatusOr<std::string> loaded =
      CaptureOutput({"env", "--unset=LD_LIBRARY_PATH", "LD_TRACE_LOADED_OBJECTS=1", copy.program});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::string files = fs::canonical(copy.folder).string() + "/program.runfiles/";
  int of_the_copy = 0;
  for (const absl::string_view line : absl::StrSplit(*loaded, '\n')) {
    EXPECT_FALSE(absl::StrContains(line, "not found")) << line;
    if (!absl::StrContains(line, "_solib_")) continue;
    EXPECT_THAT(std::string(line), HasSubstr(" => " + files));
    ++of_the_copy;
  }
  EXPECT_GT(of_the_copy, 0) << *loaded;
  ASSERT_OK_AND_ASSIGN(const std::string tests, CaptureOutput({copy.program, "--gtest_list_tests"}));
  EXPECT_THAT(tests, HasSubstr("FindsItsLibraries"));
}

}  // namespace
}  // namespace openset
