// Commands whose store is a folder with other files: none of these files is changed.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

constexpr char kSpec[] = R"(
name: "study" task: "fashion_mnist_6_4" method: "softmax" method: "energy_score" seed: 0
train_limit_per_class: 8 test_limit_per_class: 8
metric { accuracy {} }
override { training { epochs: 1 } }
)";

// Old files with names like those of openset's temporary files.
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

// `run` makes a store in the given folder. Neither `run` nor later clean-up changes the existing files.
TEST_F(NotAStoreTest, FilesFromBeforeTheStoreAreKept) {
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
