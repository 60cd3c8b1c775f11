#include "tools/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/text/wrapped_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

ABSL_FLAG(std::string, colour, "red", "What it is painted with.");
ABSL_FLAG(int, count, 1, "How many.");
ABSL_FLAG(bool, loud, false, "Whether it says so.");
ABSL_FLAG(std::string, brush, "", "With `secret`: nothing for painters. With `paint`: the brush. With `water`: wet.");
ABSL_FLAG(std::optional<bool>, dry, std::nullopt,
          "Whether it has dried: paint that has not is put aside until it has, where nobody leans against it, and is "
          "looked at again by the next command.");

namespace openset {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int exit_code;
  std::string out, err;
  bool ran = false;
  std::vector<std::string> arguments;
};

// A program with the commands "paint FILE" and the hidden "secret".
Outcome RunProgram(const std::vector<std::string>& words, const absl::Status& status = absl::OkStatus()) {
  absl::SetFlag(&FLAGS_colour, "red");
  absl::SetFlag(&FLAGS_count, 1);
  absl::SetFlag(&FLAGS_loud, false);
  Outcome outcome;
  Command paint;
  paint.name = "paint";
  paint.arguments = "FILE";
  paint.min_arguments = 1;
  paint.max_arguments = 2;
  paint.summary = "Paints files.";
  paint.description = "All of them.\n";
  paint.flags = {"colour", "count", "loud", "dry", "brush"};
  paint.run = [&](const std::vector<std::string>& arguments) {
    outcome.ran = true;
    outcome.arguments = arguments;
    return status;
  };
  Command secret = paint;
  secret.name = "secret";
  secret.hidden = true;

  std::vector<std::string> all = {"openset"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  outcome.exit_code = RunCommandLine("About.", {paint, secret}, static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Command, ListsCommandsWithoutOne) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--help"}, {"-h"}, {"help"}}) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("paint   Paints files."));
    EXPECT_THAT(outcome.out, Not(HasSubstr("secret")));
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
       {std::vector<std::string>{"help", "paint"}, {"paint", "--help"}, {"paint", "-h"}}) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_FALSE(outcome.ran);
    EXPECT_THAT(outcome.out, HasSubstr("usage: openset paint FILE [--flag=value ...]"));
    EXPECT_THAT(outcome.out, HasSubstr("--colour  What it is painted with. Default: red."));
    // Sentences about other commands are left out; "water" is none.
    EXPECT_THAT(outcome.out, HasSubstr("\n  --brush  The brush. With `water`: wet.\n"));
    // No line is wider than kTextWidth.
    EXPECT_THAT(outcome.out, HasSubstr("\n  --dry  Whether it has dried: paint"));
    EXPECT_THAT(outcome.out, ContainsRegex("\n    [a-z ]+ next command\\.\n"));
    for (const absl::string_view line : absl::StrSplit(outcome.out, '\n')) EXPECT_LE(line.size(), kTextWidth) << line;
  }
}

TEST(Command, AcceptsFlagsAnywhereInBothForms) {
  const Outcome outcome = RunProgram({"paint", "--colour", "blue", "a", "--count=3", "--loud", "b"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.arguments, ElementsAre("a", "b"));
  EXPECT_EQ(absl::GetFlag(FLAGS_colour), "blue");
  EXPECT_EQ(absl::GetFlag(FLAGS_count), 3);
  EXPECT_TRUE(absl::GetFlag(FLAGS_loud));
}

TEST(Command, SwitchesNeedNoValue) {
  EXPECT_EQ(RunProgram({"paint", "--noloud", "a"}).exit_code, 0);
  EXPECT_FALSE(absl::GetFlag(FLAGS_loud));
  EXPECT_EQ(RunProgram({"paint", "--nodry", "a"}).arguments, std::vector<std::string>{"a"});
  EXPECT_EQ(absl::GetFlag(FLAGS_dry), false);
  EXPECT_EQ(RunProgram({"paint", "--dry", "a"}).exit_code, 0);
  EXPECT_EQ(absl::GetFlag(FLAGS_dry), true);
  EXPECT_EQ(RunProgram({"paint", "--nocount", "a"}).exit_code, 2);
}

TEST(Command, WordsAfterTwoDashesAreArguments) {
  EXPECT_THAT(RunProgram({"paint", "--", "--colour"}).arguments, ElementsAre("--colour"));
}

TEST(Command, UsageErrorsListValidNames) {
  const auto error = [](const std::vector<std::string>& words) {
    const Outcome outcome = RunProgram(words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_FALSE(outcome.ran);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(error({"pant"}), HasSubstr("paint"));
  EXPECT_THAT(error({"help", "pant"}), HasSubstr("paint"));
  EXPECT_THAT(error({"paint", "a", "--color=blue"}), HasSubstr("--colour"));
  EXPECT_THAT(error({"paint", "a", "--count=many"}), HasSubstr("--count: 'many' is not valid"));
  EXPECT_THAT(error({"paint", "a", "--count"}), HasSubstr("--count needs a value"));
  EXPECT_THAT(error({"paint"}), HasSubstr("usage: openset paint FILE"));
  EXPECT_THAT(error({"paint", "a", "b", "c"}), HasSubstr("usage: openset paint FILE"));
}

TEST(Command, ExitCodesFollowTheStatus) {
  EXPECT_EQ(RunProgram({"paint", "a"}, absl::InvalidArgumentError("no")).exit_code, 2);
  EXPECT_EQ(RunProgram({"paint", "a"}, absl::NotFoundError("no")).exit_code, 2);
  EXPECT_EQ(RunProgram({"paint", "a"}, absl::CancelledError("no")).exit_code, 130);
  const Outcome failed = RunProgram({"paint", "a"}, absl::AbortedError("two of three failed"));
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.err, "openset: two of three failed\n");
}

// A command "say" that prints something.
int Say(const std::function<void()>& how) {
  Command say;
  say.name = "say";
  say.run = [&how](const std::vector<std::string>&) {
    how();
    return absl::OkStatus();
  };
  std::string words[] = {"openset", "say"};
  char* argv[] = {words[0].data(), words[1].data()};
  return RunCommandLine("About.", {say}, 2, argv);
}

TEST(Command, ErrorsEndWithALineEnd) {
  const std::string error = RunProgram({"paint", "--" + std::string(100000, 'x')}).err;
  EXPECT_THAT(error, HasSubstr("bytes more)"));
  EXPECT_LT(error.size(), 2000);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "a problem\n";
  EXPECT_THAT(RunProgram({"paint", "file"}, absl::InvalidArgumentError(lines)).err, HasSubstr("(and 901 lines more)"));
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
