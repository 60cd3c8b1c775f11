#include "tools/cli/completion.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

CompletionTables Tables() {
  CompletionTables tables;
  const auto add = [&tables](const char* name, const char* arguments, std::vector<std::string> flags = {}) {
    Command command;
    command.name = name;
    command.arguments = arguments;
    command.flags = std::move(flags);
    tables.commands.push_back(command);
  };
  add("run", "SPEC", {"metrics", "title", "ci"});
  add("show", "KIND NAME");
  add("list", "[KIND [FILTER]]");
  add("task", "splits NAME | new NAME | attributes");
  add("eval", "FILE...", {"metrics"});
  add("secret", "");
  tables.commands.back().hidden = true;
  tables.kinds = {{"metric", "metrics", {"auroc", "aurc", "ece"}},
                  {"task", "tasks", {"cifar10", "mnist"}},
                  {"spec", "specs", {"quickstart"}}};
  tables.flags = {{"metrics", {"metric", {"all"}}}};
  return tables;
}

std::string FileOf(const std::string& name, const std::string& content) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path, std::ios::trunc) << content;
  return path;
}

// The completions of the last of `words`, which a shell splits at "=".
std::vector<std::string> Completed(const std::vector<std::string>& words) { return Complete(Tables(), words).words; }

TEST(Completion, Commands) {
  EXPECT_THAT(Completed({""}),
              UnorderedElementsAre("help", "--help", "--version", "run", "show", "list", "task", "eval"));
  EXPECT_THAT(Completed({"r"}), ElementsAre("run"));
  EXPECT_THAT(Completed({"help", "s"}), ElementsAre("show"));
  EXPECT_THAT(Completed({"secre"}), IsEmpty());
  EXPECT_THAT(Completed({"nothing", ""}), IsEmpty());
}

TEST(Completion, FlagsOfTheCommand) {
  EXPECT_THAT(Completed({"run", "--"}), UnorderedElementsAre("--metrics=", "--title=", "--ci", "--help"));
  EXPECT_THAT(Completed({"run", "--ti"}), ElementsAre("--title="));
  EXPECT_THAT(Completed({"eval", "--ti"}), IsEmpty());
}

TEST(Completion, ValuesOfFlagsInBothForms) {
  EXPECT_THAT(Completed({"run", "--metrics", "=", "au"}), ElementsAre("auroc", "aurc"));
  EXPECT_THAT(Completed({"run", "--metrics", "="}), ElementsAre("auroc", "aurc", "ece", "all"));
  EXPECT_THAT(Completed({"run", "--metrics", "e"}), ElementsAre("ece"));
  // Lists, also in shells that don't split words at "=".
  EXPECT_THAT(Completed({"run", "--metrics", "=", "ece,aur"}), ElementsAre("ece,auroc", "ece,aurc"));
  EXPECT_THAT(Completed({"run", "--metrics=ece,auro"}), ElementsAre("--metrics=ece,auroc"));
  EXPECT_THAT(Completed({"run", "--title", "="}), IsEmpty());  // files, by bash itself
  // A flag's value is not an argument.
  EXPECT_THAT(Completed({"show", "--title", "=", "x", "metr"}), ElementsAre("metrics"));
  EXPECT_THAT(Completed({"run", "--metrics", "ece", "qui"}), ElementsAre("quickstart"));
}

TEST(Completion, Arguments) {
  EXPECT_THAT(Completed({"run", "q"}), ElementsAre("quickstart"));
  EXPECT_TRUE(Complete(Tables(), {"run", "q"}).files);
  EXPECT_FALSE(Complete(Tables(), {"show", "q"}).files);
  EXPECT_THAT(Completed({"show", ""}), ElementsAre("metrics", "tasks", "specs"));
  EXPECT_THAT(Completed({"show", "metric", "e"}), ElementsAre("ece"));
  EXPECT_THAT(Completed({"show", "tasks", ""}), ElementsAre("cifar10", "mnist"));
  EXPECT_THAT(Completed({"list", "task", "m"}), ElementsAre("mnist"));
  EXPECT_THAT(Completed({"task", ""}), ElementsAre("splits", "new", "attributes"));
  EXPECT_THAT(Completed({"task", "splits", "c"}), ElementsAre("cifar10"));
  EXPECT_THAT(Completed({"task", "new", "c"}), IsEmpty());
  EXPECT_THAT(Completed({"eval", "x"}), IsEmpty());
}

TEST(Completion, WordsThatAShellWouldRunAreLeftOut) {
  CompletionTables tables = Tables();
  for (const char* name : {"x';touch pwn;'", "$(touch pwn)", "`touch pwn`", "a\nb", "*", ""}) {
    for (CompletionKind& kind : tables.kinds) kind.names.push_back(name);
    tables.flags["metrics"].words.push_back(name);
  }
  EXPECT_THAT(Complete(tables, {"show", "tasks", ""}).words, ElementsAre("cifar10", "mnist"));
  EXPECT_THAT(Complete(tables, {"run", "--metrics", "="}).words, ElementsAre("auroc", "aurc", "ece", "all"));
}

// A program that answers the script with its own arguments, and that files may follow.
std::string Program() {
  const std::string path = FileOf("openset", "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\necho /\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

// What the shell's function finds for the last of `words`.
std::vector<std::string> FoundBy(const std::string& shell, const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(absl::StrCat("'", word, "'"));
  const std::string script = FileOf("complete." + shell, CompletionScript(shell));
  // For zsh, the options under which bashcompinit calls the function, without the parts that need a terminal.
  const std::string before = shell == "bash" ? "set -u\n" : "compdef() { : }\n";
  const std::string test =
      FileOf("test." + shell,
             absl::StrCat(before, "source ", script, "\nwords_of() {\n",
                          shell == "bash" ? "" : "  emulate -L sh\n  setopt kshglob noshglob braceexpand\n",
                          "  COMP_WORDS=(", Program(), " \"$@\")\n  COMP_CWORD=$#\n  COMPREPLY=()\n  _openset\n",
                          "  printf '%s|\\n' \"${COMPREPLY[@]-}\"\n}\nwords_of ", absl::StrJoin(quoted, " "), "\n"));
  const absl::StatusOr<std::string> output = CaptureOutput(
      shell == "bash" ? std::vector<std::string>{"bash", test} : std::vector<std::string>{"zsh", "-f", test});
  EXPECT_TRUE(output.ok()) << output.status();
  return absl::StrSplit(output.value_or(""), "|\n", absl::SkipEmpty());
}

class CompletionScriptTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string shell = GetParam();
    if (std::system(("command -v " + shell + " > /dev/null").c_str()) != 0) GTEST_SKIP() << "there is no " << shell;
    // A complete word of zsh ends with a space.
    space_ = shell == "zsh" ? " " : "";
  }

  std::string space_;
};

TEST_P(CompletionScriptTest, AsksTheProgram) {
  EXPECT_THAT(FoundBy(GetParam(), {"run", "--metrics", "=", "au"}),
              ElementsAre("<complete>" + space_, "<:run>" + space_, "<:--metrics>" + space_, "<:=>" + space_,
                          "<:au>" + space_));
}

// File names that a shell would run are quoted.
TEST_P(CompletionScriptTest, AddsStudiesAndFolders) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/beside");
  ASSERT_TRUE(MakeFolders(folder + "/mine").ok());
  FileOf("beside/mine.textproto", "");
  FileOf("beside/mine.txt", "");
  for (const char* name : {"x';touch pwn;'", "x$(touch pwn)", "x`touch pwn`"}) {
    FileOf(absl::StrCat("beside/", name, ".textproto"), "");
  }
  const auto files = [&](const std::string& start) {
    std::vector<std::string> found = FoundBy(GetParam(), {"run", folder + start});
    found.erase(found.begin(), found.begin() + 3);
    return found;
  };
  EXPECT_THAT(files("/mi"), UnorderedElementsAre(folder + "/mine.textproto" + space_, folder + "/mine/"));
  EXPECT_THAT(files("/x"), UnorderedElementsAre(folder + "/x\\'\\;touch\\ pwn\\;\\'.textproto" + space_,
                                                folder + "/x\\$\\(touch\\ pwn\\).textproto" + space_,
                                                folder + "/x\\`touch\\ pwn\\`.textproto" + space_));
  EXPECT_FALSE(FileExists(folder + "/pwn"));
  EXPECT_FALSE(FileExists("pwn"));
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionScriptTest, ::testing::Values("bash", "zsh"));

}  // namespace
}  // namespace openset
