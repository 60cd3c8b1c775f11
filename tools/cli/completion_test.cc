#include "tools/cli/completion.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/process/subprocess.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

ABSL_FLAG(std::string, metrics, "", "What is measured.");
ABSL_FLAG(std::string, store, "", "Where.");
ABSL_FLAG(bool, loud, false, "Whether it says so.");

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
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
  add("run", "SPEC", {"metrics", "store", "loud"});
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

// Bash's completions of the last of `words`. `words` are COMP_WORDS as readline passes them, split at "=".
std::vector<std::string> Completed(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(absl::StrCat("'", word, "'"));
  const std::string script = FileOf("complete.bash", BashCompletion(Tables()));
  const std::string test = FileOf(
      "test.bash", absl::StrCat("set -u\nsource ", script, "\nCOMP_WORDS=(openset ", absl::StrJoin(quoted, " "),
                                ")\nCOMP_CWORD=", words.size(), "\n_openset\nprintf '%s\\n' \"${COMPREPLY[@]-}\"\n"));
  const absl::StatusOr<std::string> output = CaptureOutput({"bash", test});
  EXPECT_TRUE(output.ok()) << output.status();
  return absl::StrSplit(output.value_or(""), '\n', absl::SkipEmpty());
}

TEST(BashCompletion, Commands) {
  EXPECT_THAT(Completed({""}),
              UnorderedElementsAre("help", "--help", "--version", "run", "show", "list", "task", "eval"));
  EXPECT_THAT(Completed({"r"}), ElementsAre("run"));
  EXPECT_THAT(Completed({"help", "s"}), ElementsAre("show"));
  EXPECT_THAT(Completed({"secre"}), IsEmpty());
  EXPECT_THAT(Completed({"nothing", ""}), IsEmpty());
}

TEST(BashCompletion, FlagsOfTheCommand) {
  EXPECT_THAT(Completed({"run", "--"}), UnorderedElementsAre("--metrics=", "--store=", "--loud", "--help"));
  EXPECT_THAT(Completed({"run", "--st"}), ElementsAre("--store="));
  EXPECT_THAT(Completed({"eval", "--st"}), IsEmpty());
}

TEST(BashCompletion, ValuesOfFlagsInBothForms) {
  EXPECT_THAT(Completed({"run", "--metrics", "=", "au"}), ElementsAre("auroc", "aurc"));
  EXPECT_THAT(Completed({"run", "--metrics", "="}), ElementsAre("auroc", "aurc", "ece", "all"));
  EXPECT_THAT(Completed({"run", "--metrics", "e"}), ElementsAre("ece"));
  // Lists, also in shells that don't split words at "=".
  EXPECT_THAT(Completed({"run", "--metrics", "=", "ece,aur"}), ElementsAre("ece,auroc", "ece,aurc"));
  EXPECT_THAT(Completed({"run", "--metrics=ece,auro"}), ElementsAre("--metrics=ece,auroc"));
  EXPECT_THAT(Completed({"run", "--store", "="}), IsEmpty());  // files, by bash itself
  // A flag's value is not an argument.
  EXPECT_THAT(Completed({"show", "--store", "=", "x", "metr"}), ElementsAre("metrics"));
  EXPECT_THAT(Completed({"run", "--metrics", "ece", "qui"}), ElementsAre("quickstart"));
}

TEST(BashCompletion, Arguments) {
  EXPECT_THAT(Completed({"run", "q"}), ElementsAre("quickstart"));
  EXPECT_THAT(Completed({"show", ""}), ElementsAre("metrics", "tasks", "specs"));
  EXPECT_THAT(Completed({"show", "metric", "e"}), ElementsAre("ece"));
  EXPECT_THAT(Completed({"show", "tasks", ""}), ElementsAre("cifar10", "mnist"));
  EXPECT_THAT(Completed({"list", "task", "m"}), ElementsAre("mnist"));
  EXPECT_THAT(Completed({"task", ""}), ElementsAre("splits", "new", "attributes"));
  EXPECT_THAT(Completed({"task", "splits", "c"}), ElementsAre("cifar10"));
  EXPECT_THAT(Completed({"task", "new", "c"}), IsEmpty());
  EXPECT_THAT(Completed({"eval", "x"}), IsEmpty());
}

TEST(BashCompletion, StudiesInTheFolder) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/beside");
  ASSERT_TRUE(MakeFolders(folder + "/mine").ok());
  FileOf("beside/mine.textproto", "");
  FileOf("beside/mine.txt", "");
  EXPECT_THAT(Completed({"run", folder + "/mi"}), UnorderedElementsAre(folder + "/mine.textproto", folder + "/mine/"));
}

// Names that a shell would run: words with them are omitted, a file's name is quoted.
TEST(BashCompletion, NamesAreNotExecuted) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/hostile");
  ASSERT_TRUE(MakeFolders(folder).ok());
  const std::vector<std::string> names = {absl::StrCat("x';touch ", folder, "/pwn;'"),
                                          absl::StrCat("$(touch ", folder, "/pwn)"),
                                          absl::StrCat("`touch ", folder, "/pwn`"), "a\nb", "*"};
  CompletionTables tables = Tables();
  for (const std::string& name : names) {
    for (CompletionKind& kind : tables.kinds) kind.names.push_back(name);
    tables.flags["metrics"].words.push_back(name);
  }
  EXPECT_EQ(BashCompletion(tables), BashCompletion(Tables()));
  EXPECT_EQ(ZshCompletion(tables), ZshCompletion(Tables()));
  FileOf("hostile/x';touch pwn;'.textproto", "");
  FileOf("hostile/y$(touch pwn).textproto", "");
  FileOf("hostile/z`touch pwn`.textproto", "");
  EXPECT_THAT(Completed({"run", folder + "/"}), UnorderedElementsAre(folder + "/x\\'\\;touch\\ pwn\\;\\'.textproto",
                                                                     folder + "/y\\$\\(touch\\ pwn\\).textproto",
                                                                     folder + "/z\\`touch\\ pwn\\`.textproto"));
  EXPECT_FALSE(FileExists(folder + "/pwn"));
  EXPECT_FALSE(FileExists("pwn"));
}

TEST(ZshCompletion, IsTheSameByBashcompinit) {
  const std::string script = ZshCompletion(Tables());
  EXPECT_THAT(script, HasSubstr("bashcompinit\n"));
  EXPECT_THAT(script, HasSubstr("complete -o nospace -o default -F _openset openset\n"));
  if (std::system("command -v zsh > /dev/null") != 0) GTEST_SKIP() << "there is no zsh to read the script";
  const absl::StatusOr<std::string> output = CaptureOutput({"zsh", "-n", FileOf("complete.zsh", script)});
  EXPECT_TRUE(output.ok()) << output.status();
}

// Zsh's completions of the last of `words`, with the options under which bashcompinit calls the function, and without
// the parts that need a terminal. Complete words end with a space.
std::vector<std::string> CompletedByZsh(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(absl::StrCat("'", word, "'"));
  const std::string script = FileOf("complete.zsh", ZshCompletion(Tables()));
  const std::string test =
      FileOf("test.zsh",
             absl::StrCat("compdef() { : }\nsource ", script, "\nwords_of() {\n  emulate -L sh\n",
                          "  setopt kshglob noshglob braceexpand\n  COMP_WORDS=(openset \"$@\")\n",
                          "  COMP_CWORD=$#\n  PREFIX=${COMP_WORDS[COMP_CWORD]}\n  COMPREPLY=()\n  _openset\n",
                          "  printf '%s|\\n' \"${COMPREPLY[@]}\"\n}\nwords_of ", absl::StrJoin(quoted, " "), "\n"));
  const absl::StatusOr<std::string> output = CaptureOutput({"zsh", "-f", test});
  EXPECT_TRUE(output.ok()) << output.status();
  std::vector<std::string> found = absl::StrSplit(output.value_or(""), "|\n", absl::SkipEmpty());
  return found;
}

TEST(ZshCompletion, CompletesAsBashDoes) {
  if (std::system("command -v zsh > /dev/null") != 0) GTEST_SKIP() << "there is no zsh";
  EXPECT_THAT(CompletedByZsh({"r"}), ElementsAre("run "));
  EXPECT_THAT(CompletedByZsh({"run", "--st"}), ElementsAre("--store="));
  EXPECT_THAT(CompletedByZsh({"run", "--metrics=ece,auro"}), ElementsAre("--metrics=ece,auroc "));
  EXPECT_THAT(CompletedByZsh({"show", "metric", "e"}), ElementsAre("ece "));
  EXPECT_THAT(CompletedByZsh({"task", "splits", "c"}), ElementsAre("cifar10 "));
  EXPECT_THAT(CompletedByZsh({"task", "new", "c"}), IsEmpty());
  const std::string folder = absl::StrCat(testing::TempDir(), "/by_zsh");
  ASSERT_TRUE(MakeFolders(folder + "/mine").ok());
  FileOf("by_zsh/mine.textproto", "");
  FileOf("by_zsh/mine.txt", "");
  FileOf("by_zsh/x';touch pwn;'.textproto", "");
  EXPECT_THAT(CompletedByZsh({"run", folder + "/mi"}),
              UnorderedElementsAre(folder + "/mine.textproto ", folder + "/mine/"));
  EXPECT_THAT(CompletedByZsh({"run", folder + "/x"}), ElementsAre(folder + "/x\\'\\;touch\\ pwn\\;\\'.textproto "));
  EXPECT_THAT(CompletedByZsh({"run", folder + "/mine/"}), IsEmpty());
  EXPECT_FALSE(FileExists("pwn"));
}

}  // namespace
}  // namespace openset
