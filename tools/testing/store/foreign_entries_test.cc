// Links, pipes and unreadable files in a store, which others who may write there can make. Whatever the command:
// nothing outside of the store changes or is shown, nothing is moved or removed through a link, and no command hangs.

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "the secret of ~/.ssh/id";

// The commands that read or change a store. `serve` is asked by tools/testing/serve_test.cc.
const std::vector<std::vector<std::string>>& Commands() {
  static const auto* const commands = new std::vector<std::vector<std::string>>{
      {"records", "ls"},
      {"records", "export", "--bundle=out.zip"},
      {"records", "merge", "other"},
      {"compare", "study.textproto"},
      {"report", "study.textproto"},
      {"figure", "study.textproto", "--curve=loss"},
      {"status"},
      {"status", "study.textproto"},
      {"records", "gc", "--older_than=0"},
      {"records", "gc", "--max_size=0"},
      {"records", "verify"},
      {"run", "study.textproto"},
      {"run", "study.textproto", "--redo=all"},
  };
  return *commands;
}

// The exit code with a whole store: one run of each method can't be compared, and everything in the store is young.
int UsualExitCode(const std::vector<std::string>& command) {
  return absl::c_linear_search(command, "--max_size=0") ? 1 : 0;
}

class ForeignEntriesTest : public ::testing::Test {
 protected:
  ForeignEntriesTest() {
    program_.Write("study.textproto", kSmallStudy);
    const ProgramResult run = program_.Run({"run", "study.textproto", "--store=whole"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    // What a store may contain besides the results of a whole run.
    for (const char* folder :
         {"attempts", "quarantine/1", "logs", "partial", "slurm", "programs", "data", "replicas"}) {
      fs::create_directories(In(absl::StrCat("whole/", folder)));
    }
    program_.Write("whole/quarantine/1/reason", "a reason\n");
    // Old files with the names of a store's, to which links may lead; and a home.
    fs::copy(In("whole"), In("other"), fs::copy_options::recursive);
    program_.Write("home/id", kSecret);
    program_.Write("home/thesis/report.tex", kSecret);
    program_.Write("home/thesis/1/reason", kSecret);
    fs::copy(In("whole"), In("home/thesis/store"), fs::copy_options::recursive);
    for (const char* folder : {"home", "other"}) {
      for (const auto& entry : fs::recursive_directory_iterator(In(folder))) Age(entry.path());
    }
  }

  std::string In(const std::string& path) const { return program_.folder() + "/" + path; }
  static void Age(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 100));
  }

  // The entries of a store below its folder, some of each kind: every room; in each room the first shard or folder, and
  // in it the first result, and its first file.
  std::vector<std::string> Entries() const {
    std::vector<std::string> entries;
    const std::vector<std::string> rooms = *ListFolder(In("whole"));
    for (const std::string& room : rooms) {
      for (std::string path = room;;) {
        entries.push_back(path);
        if (!fs::is_directory(In("whole/" + path)) || ListFolder(In("whole/" + path))->empty()) break;
        path = JoinPath(path, ListFolder(In("whole/" + path))->front());
      }
    }
    return entries;
  }

  // Every third of them, from the second.
  std::vector<std::string> SomeEntries() const {
    std::vector<std::string> some;
    const std::vector<std::string> all = Entries();
    for (size_t i = 1; i < all.size(); i += 3) some.push_back(all[i]);
    return some;
  }

  // The content of all files below a folder, and where links lead, with their times of change.
  std::map<std::string, std::string> TreeOf(const std::string& folder) const {
    std::map<std::string, std::string> tree;
    for (const auto& entry : fs::recursive_directory_iterator(In(folder))) {
      const std::string path = entry.path().string();
      struct stat info = {};
      lstat(path.c_str(), &info);
      tree[path] = absl::StrCat(info.st_mode, " ", info.st_ino, " ", info.st_mtim.tv_sec, " ",
                                entry.is_symlink()        ? fs::read_symlink(path).string()
                                : entry.is_regular_file() ? ReadFile(path).value_or("?")
                                                          : "");
    }
    return tree;
  }

  // Runs all commands on a store in which `entry` has been replaced, each on a new copy. `must_name`: each command that
  // ends well must not have needed the entry, and each other one names it.
  void Try(const std::string& entry, const std::string& what, const std::function<void(const std::string&)>& replace) {
    const auto home = TreeOf("home"), other = TreeOf("other");
    for (std::vector<std::string> command : Commands()) {
      SCOPED_TRACE(absl::StrCat(entry, " is ", what, ": ", absl::StrJoin(command, " ")));
      fs::remove_all(In("store"));
      fs::copy(In("whole"), In("store"), fs::copy_options::recursive);
      const std::string path = In("store/" + entry);
      fs::remove_all(path);
      replace(path);
      command.push_back("--store=store");
      const ProgramResult result = program_.Run(command);
      const std::string all = result.out + result.err;
      EXPECT_GE(result.exit_code, 0) << all;
      EXPECT_LE(result.exit_code, 2) << all;
      EXPECT_THAT(all, Not(HasSubstr(kSecret)));
      EXPECT_THAT(all, Not(HasSubstr("internal error")));
      if (result.exit_code != UsualExitCode(command)) {
        EXPECT_THAT(all, HasSubstr(entry.substr(0, entry.find('/'))));
      }
      EXPECT_EQ(TreeOf("home"), home);
      EXPECT_EQ(TreeOf("other"), other);
    }
  }

  const OpensetProgram program_;
};

TEST_F(ForeignEntriesTest, LinksToAnotherStore) {
  for (const std::string& entry : Entries()) {
    Try(entry, "a link to another store",
        [&](const std::string& path) { fs::create_symlink(In("other/" + entry), path); });
  }
}

TEST_F(ForeignEntriesTest, LinksToAHome) {
  for (const std::string& entry : SomeEntries()) {
    const bool is_folder = fs::is_directory(In("whole/" + entry));
    Try(entry, "a link to a home",
        [&](const std::string& path) { fs::create_symlink(In(is_folder ? "home/thesis" : "home/id"), path); });
  }
}

TEST_F(ForeignEntriesTest, Pipes) {
  for (const std::string& entry : SomeEntries()) {
    if (!absl::StrContains(entry, '/')) continue;  // see below
    Try(entry, "a pipe", [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0666), 0); });
  }
}

// In the place of a whole room, a pipe is an empty room to other commands.
TEST_F(ForeignEntriesTest, VerifyNamesAPipeInThePlaceOfARoom) {
  for (const char* room : {"records", "checkpoints", "outputs", "attempts"}) {
    fs::remove_all(In("store"));
    fs::copy(In("whole"), In("store"), fs::copy_options::recursive);
    const std::string path = In(absl::StrCat("store/", room));
    fs::remove_all(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
    const ProgramResult result = program_.Run({"records", "verify", "--dry_run", "--store=store"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, HasSubstr(absl::StrCat("store/", room, ": is not the folder that results belong in")));
  }
}

// A link to a room of a store makes each command refuse the store and name the link.
TEST_F(ForeignEntriesTest, ALinkedRoomIsRefusedByName) {
  for (const char* room : {"records", "checkpoints", "outputs", "reports", "attempts", "quarantine", "runs", "tmp"}) {
    fs::remove_all(In("store"));
    fs::copy(In("whole"), In("store"), fs::copy_options::recursive);
    fs::remove_all(In(absl::StrCat("store/", room)));
    fs::create_symlink(In(absl::StrCat("other/", room)), In(absl::StrCat("store/", room)));
    for (std::vector<std::string> command : Commands()) {
      command.push_back("--store=store");
      const ProgramResult result = program_.Run(command);
      EXPECT_EQ(result.exit_code, 2) << absl::StrJoin(command, " ") << result.out;
      EXPECT_THAT(result.err, HasSubstr(absl::StrCat("store/", room, ": is a link; openset follows no link below")));
    }
  }
}

// The report's folder or one of its files leads to a paper: the run says so before it trains anything.
TEST_F(ForeignEntriesTest, ARunDoesNotWriteItsReportThroughALink) {
  for (const char* link : {"reports/study", "reports/study/report.tex"}) {
    fs::remove_all(In("store"));
    program_.Write("store/version", "openset store 3\n");
    program_.Write("store/reports/study/spec", "");
    fs::remove_all(In(absl::StrCat("store/", link)));
    if (link == std::string("reports/study")) fs::remove_all(In("store/reports/study"));
    fs::create_symlink(In(fs::path(link).has_extension() ? "home/thesis/report.tex" : "home/thesis"),
                       In(absl::StrCat("store/", link)));
    const auto home = TreeOf("home");
    const ProgramResult result = program_.Run({"run", "study.textproto", "--store=store"});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.err, HasSubstr(absl::StrCat("store/", link, ": is a link; openset follows no link below")));
    EXPECT_EQ(TreeOf("home"), home);
  }
}

// The store's folder itself, and folders above it, may be links.
TEST_F(ForeignEntriesTest, TheStoreMayBeALink) {
  fs::create_symlink("whole", In("store"));
  for (std::vector<std::string> command : Commands()) {
    command.push_back("--store=store");
    const ProgramResult result = program_.Run(command);
    EXPECT_EQ(result.exit_code, UsualExitCode(command)) << absl::StrJoin(command, " ") << result.err;
  }
}

// Commands whose store is a folder with other files: none of these files is changed.

constexpr char kSpec[] = R"(
name: "study" task: "fashion_mnist_6_4" method: "softmax" method: "energy_score" seed: 0
train_limit_per_class: 8 test_limit_per_class: 8
metric { accuracy {} }
override { training { epochs: 1 } }
)";

// Old files with names like openset's temporary files.
constexpr const char* kFiles[] = {"my.tmp.notes/chapter/one", "thesis.tmp.2024",         "a.tmp.node.0123abcd.1.0",
                                  "tmp/a.tmp.x.1.0",          "tmp/my.tmp.notes/one",    "logs/diary.log",
                                  "partial/x.tmp.2024",       "programs/mine/bin/start", "quarantine/dog/letter"};

class NotAStoreTest : public ::testing::Test {
 protected:
  NotAStoreTest() {
    program_.Write("study.textproto", kSpec);
    for (const char* file : kFiles) program_.Write(absl::StrCat("home/", file), file);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 100);
    for (const auto& entry : fs::recursive_directory_iterator(Home())) fs::last_write_time(entry, old);
  }

  std::string Home() const { return program_.folder() + "/home"; }

  // All files in the folder.
  std::map<std::string, std::string> Content() const {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::recursive_directory_iterator(Home())) {
      content[entry.path().string()] = entry.is_directory() ? "/" : ReadFile(entry.path().string()).value_or("?");
    }
    return content;
  }

  const OpensetProgram program_;
};

TEST_F(NotAStoreTest, CommandsThatMakeNoResultsRefuseIt) {
  const auto before = Content();
  for (std::vector<std::string> words :
       std::vector<std::vector<std::string>>{{"records", "gc"},
                                             {"records", "gc", "--dry_run"},
                                             {"records", "verify"},
                                             {"records", "ls"},
                                             {"records", "show", "abcd"},
                                             {"records", "export", "--bundle=x.zip"},
                                             {"records", "rm", "trial=abcd"},
                                             {"records", "spec", "abcd"},
                                             {"records", "ls", "split=0"},
                                             {"report", "split=0"},
                                             {"compare", "study.textproto"},
                                             {"reproduce", "abcd"},
                                             {"serve", "--port=0"},
                                             {"export", "outputs", "abcd", "out"},
                                             {"explain", "abcd"},
                                             {"explain", "abcd", "study.textproto"},
                                             {"status"},
                                             {"status", "study.textproto"},
                                             {"plan", "study.textproto"},
                                             {"report", "study.textproto"},
                                             {"cancel", "study.textproto"},
                                             {"figure", "study.textproto", "--curve=loss"}}) {
    words.push_back("--store=home");
    const ProgramResult result = program_.Run(words);
    SCOPED_TRACE(words[0] + " " + words[1]);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, absl::StrCat("openset: ", Home(),
                                       " is not a store: it has no file 'version'; name another folder (--store)\n"));
    EXPECT_EQ(Content(), before);
  }
  EXPECT_FALSE(fs::exists(program_.folder() + "/x.zip"));
  EXPECT_FALSE(fs::exists(program_.folder() + "/out"));
}

TEST_F(NotAStoreTest, CommandsThatMakeResultsRefuseIt) {
  const auto before = Content();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "study.textproto"}, {"records", "merge", "home"}}) {
    std::vector<std::string> command = words;
    command.push_back("--store=home");
    const ProgramResult result = program_.Run(command);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_EQ(result.err,
              absl::StrCat("openset: ", Home(), " is not a store, and has other files (a.tmp.node.0123abcd.1.0): ",
                           "name a new or an empty folder (--store)\n"));
    EXPECT_EQ(Content(), before);
  }
}

// `run` makes a store in a folder that only has folders of a store, as one that has lost its file `version`. Neither
// `run` nor later clean-up changes the existing files.
TEST_F(NotAStoreTest, FilesFromBeforeTheStoreAreKept) {
  for (const char* other : {"my.tmp.notes", "thesis.tmp.2024", "a.tmp.node.0123abcd.1.0"}) {
    fs::remove_all(absl::StrCat(Home(), "/", other));
  }
  const auto before = Content();
  const ProgramResult run = program_.Run({"run", "study.textproto", "--store=home", "--methods=softmax"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult cleared = program_.Run({"records", "gc", "--store=home", "--older_than=0"});
  EXPECT_EQ(cleared.exit_code, 0) << cleared.err;
  EXPECT_THAT(cleared.out, HasSubstr("removed 0"));
  EXPECT_EQ(program_.Run({"records", "verify", "--store=home"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"run", "study.textproto", "--store=home"}).exit_code, 0);
  const auto after = Content();
  for (const auto& [path, content] : before) {
    const auto found = after.find(path);
    ASSERT_NE(found, after.end()) << path;
    EXPECT_EQ(found->second, content) << path;
  }
}

TEST_F(NotAStoreTest, AnEmptyFolderCountsAsAMissingStore) {
  fs::remove_all(Home());
  fs::create_directory(Home());
  EXPECT_THAT(program_.Run({"status", "study.textproto", "--store=home"}).out, HasSubstr("0 of 10 trials done"));
  EXPECT_EQ(program_.Run({"plan", "study.textproto", "--store=home", "--noprobe"}).exit_code, 0);
  EXPECT_EQ(program_.Run({"records", "ls", "--store=home"}).exit_code, 2);
  EXPECT_TRUE(fs::is_empty(Home()));
}

}  // namespace
}  // namespace openset
