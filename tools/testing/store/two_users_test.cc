// The messages of commands for a second user of a store, depending on its owner's umask. Root creates the users;
// otherwise the tests are skipped.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/users.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kSpec[] = R"(
name: "NAME" task: "fashion_mnist_6_4" method: "softmax" seed: 0
train_limit_per_class: 8 test_limit_per_class: 8
metric { accuracy {} } metric { auroc {} }
override { training { epochs: 1 } }
)";

std::string WhyNoUsers() {
  const std::string runfiles = *RunfilesFolder();
  if (const std::string why = NoUsersBecause(testing::TempDir()); !why.empty()) return why;
  // The program, which is a link to the built file, and a file of the source tree.
  for (const char* file : {"/openset/tools/openset_unstamped", "/openset/experiments/methods/softmax.textproto"}) {
    if (!LetAllReach(runfiles) || !LetAllReach(runfiles + file)) return absl::StrCat("other users can't reach ", file);
  }
  return "";
}

const std::string& NoUsers() {
  static const std::string* const why = new std::string(WhyNoUsers());
  return *why;
}

class TwoUsersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!NoUsers().empty()) GTEST_SKIP() << NoUsers();
    for (const char* name : {"one", "two"}) {
      std::string spec = kSpec;
      spec.replace(spec.find("NAME"), 4, name);
      if (name == std::string("two")) spec.replace(spec.find("seed: 0"), 7, "seed: 1");
      program_.Write(absl::StrCat(name, ".textproto"), spec);
    }
    for (const User* user : {&anna_, &bert_}) {
      const std::string home = HomeOf(*user);
      fs::create_directories(home);
      ASSERT_EQ(chown(home.c_str(), user->id, user->group), 0);
    }
    const std::string shared = program_.folder() + "/shared";
    fs::create_directories(shared);
    ASSERT_EQ(chown(shared.c_str(), anna_.id, anna_.group), 0);
    ASSERT_EQ(chmod(shared.c_str(), 02775), 0);
  }

  std::string HomeOf(const User& user) const { return absl::StrCat(program_.folder(), "/home", user.id); }
  std::string Store() const { return program_.folder() + "/shared/store"; }

  // Runs `openset ARGUMENTS --store=shared/store` as this user, in the user's own folder.
  ProgramResult Run(const User& user, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), *RunfilesFolder() + "/openset/tools/openset_unstamped");
    arguments.push_back("--store=" + Store());
    const std::string out = program_.folder() + "/out.txt", err = program_.folder() + "/err.txt";
    ProgramResult result;
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    result.exit_code = RunAs(user, [&] {
      dup2(out_file, STDOUT_FILENO);
      dup2(err_file, STDERR_FILENO);
      std::vector<char*> words;
      for (std::string& argument : arguments) words.push_back(argument.data());
      words.push_back(nullptr);
      setenv("HOME", HomeOf(user).c_str(), 1);
      unsetenv("BUILD_WORKING_DIRECTORY");
      if (chdir(HomeOf(user).c_str()) != 0) return 124;
      execv(words[0], words.data());
      return 126;
    });
    close(out_file);
    close(err_file);
    result.out = program_.Read("out.txt");
    result.err = program_.Read("err.txt");
    return result;
  }

  std::string Spec(const std::string& name) const { return absl::StrCat(program_.folder(), "/", name, ".textproto"); }

  // The path, owner, mode and size of everything in the store.
  std::map<std::string, std::string> Content() const {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::recursive_directory_iterator(Store())) {
      struct stat info = {};
      lstat(entry.path().c_str(), &info);
      content[entry.path().string()] =
          absl::StrCat(info.st_uid, " ", info.st_mode, " ", entry.is_directory() ? 0 : info.st_size);
    }
    return content;
  }

  // One error that names the store, below hints on a report that is shown; exit code 1 or 2, and nothing is written.
  void ExpectRefused(const User& user, const std::vector<std::string>& words) const {
    SCOPED_TRACE(absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : ""));
    const auto before = Content();
    const ProgramResult result = Run(user, words);
    EXPECT_THAT(result.exit_code, AnyOf(1, 2));
    const std::vector<std::string> lines = absl::StrSplit(result.err, '\n', absl::SkipEmpty());
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.back(), AllOf(StartsWith("openset: "), HasSubstr(Store()), HasSubstr("Permission denied")));
    for (size_t i = 0; i + 1 < lines.size(); ++i) EXPECT_THAT(lines[i], StartsWith("hint: "));
    EXPECT_EQ(Content(), before);
  }

  User anna_{64001}, bert_{64002};
  const OpensetProgram program_;
};

TEST_F(TwoUsersTest, ReadersCanReadEverything) {
  const ProgramResult ran = Run(anna_, {"run", Spec("one")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto before = Content();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"report", Spec("one")},
                                             {"status", Spec("one")},
                                             {"status"},
                                             {"plan", Spec("two"), "--noprobe"},
                                             {"records", "ls"},
                                             {"records", "verify"},
                                             {"records", "gc", "--dry_run"},
                                             {"records", "export", "--bundle=all.zip"}}) {
    const ProgramResult result = Run(bert_, words);
    EXPECT_EQ(result.exit_code, 0) << words[0] << ": " << result.err;
    EXPECT_EQ(Content(), before) << words[0];
  }
  ExpectRefused(bert_, {"run", Spec("two")});
  ExpectRefused(bert_, {"run", Spec("one")});  // all results exist, but the report can't be rewritten
  // Commands with work to do are refused too, and don't say that they did it.
  ExpectRefused(bert_, {"records", "rm", "split=0", "--yes"});
  EXPECT_EQ(program_.Read("out.txt"), "");
  ExpectRefused(bert_, {"records", "gc"});
  std::string record;
  for (const auto& entry : fs::recursive_directory_iterator(Store() + "/records")) {
    if (entry.is_regular_file()) record = entry.path().string();
  }
  fs::resize_file(record, 60);
  ExpectRefused(bert_, {"records", "verify"});
  ExpectRefused(bert_, {"records", "merge", "all.zip"});
}

TEST_F(TwoUsersTest, AGroupWorksOnOneStore) {
  anna_.mask = bert_.mask = 002;
  ProgramResult ran = Run(anna_, {"run", Spec("one")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ran = Run(bert_, {"run", Spec("two")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  ran = Run(bert_, {"run", Spec("one")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(Run(bert_, {"records", "show", "--format=json", "0"}).err, HasSubstr("is not a trial"));
  EXPECT_THAT(Run(anna_, {"records", "ls"}).out, HasSubstr("10 of 10 records"));
  EXPECT_EQ(Run(anna_, {"records", "verify"}).exit_code, 0);
  EXPECT_EQ(Run(anna_, {"records", "gc"}).exit_code, 0);
}

TEST_F(TwoUsersTest, AnInaccessibleStoreIsRefusedInOneLine) {
  anna_.mask = 077;
  const ProgramResult ran = Run(anna_, {"run", Spec("one")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", Spec("one")},
                                             {"report", Spec("one")},
                                             {"status"},
                                             {"status", Spec("one")},
                                             {"plan", Spec("one")},
                                             {"records", "ls"},
                                             {"records", "verify"},
                                             {"records", "gc"},
                                             {"records", "merge", "all.zip"},
                                             {"explain", "abcd"},
                                             {"export", "outputs", "abcd", "out"}}) {
    ExpectRefused(bert_, words);
  }
}

TEST_F(TwoUsersTest, OnlyTheUserCanReadAPrivateStore) {
  const ProgramResult ran = Run(anna_, {"run", Spec("one"), "--private"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(Store())) {
    const fs::perms mode = fs::status(entry).permissions() & fs::perms::all;
    EXPECT_EQ(mode, entry.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
    ++files;
  }
  EXPECT_GT(files, 10);
  EXPECT_EQ(fs::status(Store()).permissions() & fs::perms::all, fs::perms::owner_all);
  ExpectRefused(bert_, {"report", Spec("one")});
  EXPECT_EQ(Run(anna_, {"report", Spec("one")}).exit_code, 0);
}

}  // namespace
}  // namespace openset
