#include "tools/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <optional>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/testing/status_matchers.h"
#include "core/text/wrapped_text.h"

namespace openset {
namespace {

struct Outcome {
  int exit_code;
  std::string out, err;
  bool ran = false;
  std::vector<std::string> arguments;
  RunConfig config;
};

// A program with the commands "report FILE" and the hidden "compare".
Outcome RunProgram(const std::vector<std::string>& words, const absl::Status& status = absl::OkStatus()) {
  Outcome outcome;
  Command report;
  report.name = "report";
  report.arguments = "FILE";
  report.min_arguments = 1;
  report.max_arguments = 2;
  report.summary = "Reports on files.";
  report.description = "All of them.\n";
  report.flags = {"legend", "threads", "ci", "keep_going", "format", "name", "set", "sort"};
  report.run = [&](const std::vector<std::string>& arguments, const RunConfig& config) {
    outcome.ran = true;
    outcome.arguments = arguments;
    outcome.config = config;
    return status;
  };
  Command compare = report;
  compare.name = "compare";
  compare.hidden = true;

  std::vector<std::string> all = {"openset"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  outcome.exit_code = RunCommandLine("About.", {report, compare}, static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Command, ListsCommandsWithoutOne) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--help"}, {"-h"}, {"help"}}) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("report   Reports on files."));
    EXPECT_THAT(outcome.out, Not(HasSubstr("compare")));
  }
}

// As --store=$STORE writes it if the variable isn't set.
TEST(Command, RefusesAFlagWithoutAValue) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"report", "a", "--name="}, {"report", "a", "--name", ""}, {"report", "a", "--set="}}) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(outcome.ran);
    EXPECT_THAT(outcome.err, HasSubstr(": is empty; give a value, or leave it out"));
  }
}

// Tests are built without a stamp.
TEST(Command, VersionNamesCommitAndBuild) {
  for (const char* word : {"--version", "version"}) {
    const Outcome outcome = RunProgram({word});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, ContainsRegex("^openset [0-9]+\\.[0-9]+\\.[0-9]+(-dev)?, commit unknown\nbuilt by "));
    EXPECT_THAT(outcome.out, ContainsRegex("built by (gcc|clang) [0-9]+\\.[0-9]+\\.[0-9]+, for the CPU"));
  }
}

TEST(Command, HelpNamesFlagsAndDefaults) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"help", "report"}, {"report", "--help"}, {"report", "-h"}}) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_FALSE(outcome.ran);
    EXPECT_THAT(outcome.out, HasSubstr("usage: openset report FILE [--flag=value ...]"));
    EXPECT_THAT(
        outcome.out,
        HasSubstr("--legend  For a study: where the legend of lines is: top, right, bottom or none. Default: top."));
    // What the help says in this command, and not what it says in others.
    EXPECT_THAT(outcome.out, HasSubstr("\n  --format  text, markdown, latex, csv or json. Also html and tensorboard. "
                                       "Default: text.\n"));
    EXPECT_THAT(outcome.out,
                HasSubstr("\n  --name  With `describe`: the name of the data set; default: the folder's name.\n"));
    EXPECT_THAT(outcome.out, HasSubstr("\n  --sort  The metric whose best rows come first.\n"));
    // No line is wider than kTextWidth.
    EXPECT_THAT(outcome.out, HasSubstr("\n  --keep_going  After a failure, continue with"));
    EXPECT_THAT(outcome.out, ContainsRegex("\n    [^\n]*Default: true\\.\n"));
    for (const absl::string_view line : absl::StrSplit(outcome.out, '\n')) EXPECT_LE(line.size(), kTextWidth) << line;
  }
}

TEST(Command, AcceptsFlagsAnywhereInBothForms) {
  const Outcome outcome = RunProgram({"report", "--legend", "none", "a", "--threads=3", "--ci", "b"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.arguments, ElementsAre("a", "b"));
  EXPECT_EQ(outcome.config.legend, "none");
  EXPECT_EQ(outcome.config.threads, 3);
  EXPECT_TRUE(outcome.config.ci);
  EXPECT_THAT(outcome.config.given, ElementsAre("ci", "legend", "threads"));
}

TEST(Command, SwitchesNeedNoValue) {
  EXPECT_TRUE(RunProgram({"report", "--ci", "a"}).config.ci);
  EXPECT_FALSE(RunProgram({"report", "--ci", "--noci", "a"}).config.ci);
  const Outcome outcome = RunProgram({"report", "--nokeep_going", "a"});
  EXPECT_THAT(outcome.arguments, ElementsAre("a"));
  EXPECT_EQ(outcome.config.keep_going, false);
  EXPECT_EQ(RunProgram({"report", "--keep_going", "a"}).config.keep_going, true);
  EXPECT_EQ(RunProgram({"report", "a"}).config.keep_going, std::nullopt);
  EXPECT_EQ(RunProgram({"report", "--nothreads", "a"}).exit_code, 2);
}

TEST(Command, ARepeatedFlagAddsAndOthersReplace) {
  const Outcome outcome = RunProgram({"report", "--set", "a=1,2", "--legend=top", "--set=b=3", "--legend=none", "f"});
  EXPECT_THAT(outcome.config.study.changes.set, ElementsAre("a=1,2", "b=3"));
  EXPECT_EQ(outcome.config.legend, "none");
}

TEST(Command, WordsAfterTwoDashesAreArguments) {
  EXPECT_THAT(RunProgram({"report", "--", "--legend"}).arguments, ElementsAre("--legend"));
}

TEST(Command, UsageErrorsListValidNames) {
  const auto error = [](const std::vector<std::string>& words) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(outcome.ran);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(error({"repot"}), HasSubstr("report"));
  EXPECT_THAT(error({"help", "repot"}), HasSubstr("report"));
  EXPECT_THAT(error({"report", "a", "--legends=none"}), HasSubstr("--legend"));
  EXPECT_THAT(error({"report", "a", "--threads=many"}), HasSubstr("--threads: 'many' is not valid"));
  EXPECT_THAT(error({"report", "a", "--threads"}), HasSubstr("--threads needs a value"));
  EXPECT_THAT(error({"report"}), HasSubstr("usage: openset report FILE"));
  EXPECT_THAT(error({"report", "a", "b", "c"}), HasSubstr("usage: openset report FILE"));
}

TEST(Command, ExitCodesFollowTheStatus) {
  EXPECT_EQ(RunProgram({"report", "a"}, absl::InvalidArgumentError("no")).exit_code, 2);
  EXPECT_EQ(RunProgram({"report", "a"}, absl::NotFoundError("no")).exit_code, 2);
  EXPECT_EQ(RunProgram({"report", "a"}, absl::CancelledError("no")).exit_code, 130);
  const Outcome failed = RunProgram({"report", "a"}, absl::AbortedError("two of three failed"));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.err, "openset: two of three failed\n");
}

// A command "say" that prints something.
int Say(const std::function<void()>& how) {
  Command say;
  say.name = "say";
  say.run = [&how](const std::vector<std::string>&, const RunConfig&) {
    how();
    return absl::OkStatus();
  };
  std::string words[] = {"openset", "say"};
  char* argv[] = {words[0].data(), words[1].data()};
  return RunCommandLine("About.", {say}, 2, argv);
}

TEST(Command, ErrorsEndWithALineEnd) {
  const std::string error = RunProgram({"report", "--" + std::string(100000, 'x')}).err;
  EXPECT_THAT(error, HasSubstr("bytes more)"));
  EXPECT_LT(error.size(), 2000);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "a problem\n";
  EXPECT_THAT(RunProgram({"report", "file"}, absl::InvalidArgumentError(lines)).err, HasSubstr("(and 901 lines more)"));
}

TEST(Command, FailsIfOutputCannotBeWritten) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Say([] { std::cout.setstate(std::ios::badbit); }), 1);
  std::cout.clear();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("openset: the output is incomplete: can't write to standard output"));
}

TEST(Command, FailsCleanlyAtTheFileSizeLimit) {
  void (*handler)(int) = nullptr;
  EXPECT_EQ(Say([&] { handler = std::signal(SIGXFSZ, SIG_DFL); }), 0);
  EXPECT_EQ(handler, SIG_IGN);
}

TEST(CommandDeathTest, ClosedStreamsAreNotReusedForFiles) {
  EXPECT_EXIT(
      {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        bool are_open = false;
        Say([&] { are_open = fcntl(STDIN_FILENO, F_GETFD) >= 0 && fcntl(STDOUT_FILENO, F_GETFD) >= 0; });
        _exit(are_open ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace openset
