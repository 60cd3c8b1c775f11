#include "tools/cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/process/build_info.h"
#include "core/process/exit_code.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "core/text/terminal.h"
#include "core/text/wrapped_text.h"

namespace openset {
namespace {

// Of a subcommand alone, if `action` names one.
std::string Usage(const Command& command, const std::string& action = "") {
  std::string arguments = command.arguments;
  for (const absl::string_view one : absl::StrSplit(command.arguments, " | ")) {
    if (!action.empty() && (one == action || absl::StartsWith(one, action + " "))) arguments = std::string(one);
  }
  return absl::StrCat("openset ", command.name, arguments.empty() ? "" : " ", arguments,
                      command.flags.empty() ? "" : " [--flag=value ...]");
}

// Whether a command has a subcommand of this name: for "ls [QUERY] | gc", "ls" and "gc".
bool CanDo(const Command& command, const std::string& action) {
  for (const absl::string_view one : absl::StrSplit(command.arguments, '|')) {
    const std::vector<absl::string_view> words = absl::StrSplit(one, ' ', absl::SkipEmpty());
    if (!words.empty() && words[0] == action && absl::ascii_islower(static_cast<unsigned char>(action[0]))) return true;
  }
  return false;
}

const std::string& HelpOf(const Flag& flag, const Command& command) {
  const auto own = flag.help_in.find(command.name);
  return own == flag.help_in.end() ? flag.help : own->second;
}

// The lines of a description that are about one subcommand, or about all: "ls    lists records" with the indented lines
// below it, and the examples ("  openset records ls").
std::string DescriptionOf(const Command& command, const std::string& action) {
  const std::string example = absl::StrCat("  openset ", command.name, " ");
  std::string text;
  bool is_about_it = true;
  for (const absl::string_view line : absl::StrSplit(command.description, '\n')) {
    const std::string word(line.substr(0, line.find(' ')));
    if (absl::StartsWith(line, example)) {
      is_about_it = absl::StartsWith(absl::StrCat(line.substr(example.size()), " "), action + " ");
    } else if (!word.empty()) {
      is_about_it = !CanDo(command, word) || word == action;
    } else if (line.empty()) {
      is_about_it = !absl::EndsWith(text, "\n\n");
    }
    if (is_about_it) absl::StrAppend(&text, line, "\n");
  }
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(text), "\n");
}

// Whether a flag's help, "With `new`: ...", doesn't say that the flag goes with other subcommands.
bool GoesWith(absl::string_view help, const std::string& action) {
  if (!absl::ConsumePrefix(&help, "With `")) return true;
  return absl::StrContains(absl::StrCat("`", help.substr(0, help.find(':'))), absl::StrCat("`", action, "`"));
}

// Of a subcommand alone, if `action` names one.
std::string HelpOf(const Command& command, std::string action = "") {
  if (action.empty() || !CanDo(command, action)) action.clear();
  std::string text = absl::StrCat(command.summary, "\n\nusage: ", Usage(command, action), "\n\n",
                                  action.empty() ? command.description : DescriptionOf(command, action));
  if (!command.flags.empty()) absl::StrAppend(&text, "\nflags:\n");
  for (const std::string& name : command.flags) {
    const Flag& flag = FindFlag(name);
    const std::string& help = HelpOf(flag, command);
    if (!action.empty() && !GoesWith(help, action)) continue;
    std::string line = absl::StrCat("  --", name, "  ", help);
    const std::string& value = flag.default_value;
    // Quotes a value that ends in a full stop, which would look like the end of the sentence.
    if (!value.empty())
      absl::StrAppend(&line, " Default: ", absl::EndsWith(value, ".") ? "'" + value + "'" : value, ".");
    absl::StrAppend(&text, Wrapped(line), "\n");
  }
  return text;
}

std::string HelpOfAll(const std::string& about, const std::vector<Command>& commands) {
  std::string text = absl::StrCat(about, "\n\nusage: openset COMMAND ...\n\n");
  size_t width = 0;
  for (const Command& command : commands) width = std::max(width, command.name.size());
  for (const Command& command : commands) {
    if (command.hidden) continue;
    absl::StrAppend(&text, "  ", command.name, std::string(width - command.name.size() + 2, ' '), command.summary,
                    "\n");
  }
  return absl::StrCat(
      text, "\n'openset COMMAND --help' shows details; 'openset --version' shows the version and how it was built.\n");
}

const Command* Find(const std::vector<Command>& commands, const std::string& name) {
  for (const Command& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

absl::Status UnknownCommand(const std::vector<Command>& commands, const std::string& name) {
  std::vector<std::string> names, meant;
  for (const Command& command : commands) {
    if (!command.hidden && !name.empty() && CanDo(command, name)) {
      meant.push_back(absl::StrCat("'openset ", command.name, " ", name, "'"));
    }
  }
  if (!meant.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' is a subcommand: ", absl::StrJoin(meant, " or ")));
  }
  for (const Command& command : commands) {
    if (!command.hidden) names.push_back(command.name);
  }
  return absl::InvalidArgumentError(UnknownName("command", name, names));
}

bool HasFlag(const Command& command, absl::string_view name) { return absl::c_linear_search(command.flags, name); }

// Sets the flag that `words[*at]` names, from that word or the next.
absl::Status ParseFlag(const Command& command, const std::vector<std::string>& words, size_t* at, RunConfig* config) {
  absl::string_view word = words[*at];
  absl::ConsumePrefix(&word, "--");
  const size_t equals = word.find('=');
  std::string name(word.substr(0, equals));
  std::string value = "true";
  if (absl::string_view positive = name; equals == absl::string_view::npos && absl::ConsumePrefix(&positive, "no") &&
                                         HasFlag(command, positive) && FindFlag(positive).is_switch) {
    name = std::string(positive);
    value = "false";
  }
  if (!HasFlag(command, name)) {
    const std::string field = UsualPath(name);
    if (HasFlag(command, "set") && field != name) {
      return absl::InvalidArgumentError(absl::StrCat(
          "openset ", command.name, ": --", name, " is not a flag; --set=", field, "=VALUE sets it for all methods"));
    }
    if (HasFlag(command, "format") &&
        absl::c_linear_search(absl::StrSplit(HelpOf(FindFlag("format"), command), absl::ByAnyChar(" ,.")), name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("openset ", command.name, ": --", name, " is not a flag; --format=", name, " is"));
    }
    std::vector<std::string> known;
    for (const std::string& flag : command.flags) known.push_back("--" + flag);
    return absl::InvalidArgumentError(
        absl::StrCat("openset ", command.name, ": ", UnknownName("flag", absl::StrCat("--", name), known)));
  }
  const Flag& flag = FindFlag(name);
  if (equals != absl::string_view::npos) {
    value = std::string(word.substr(equals + 1));
  } else if (!flag.is_switch) {
    if (*at + 1 == words.size()) return absl::InvalidArgumentError(absl::StrCat("--", name, " needs a value"));
    value = words[++*at];
  }
  // Usually an unset shell variable. No flag needs an empty value: leaving the flag out means the same.
  if (value.empty())
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": is empty; give a value, or leave it out"));
  config->given.insert(name);
  std::string error;
  if (!flag.parse(value, config, &error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": '", value, "' is not valid", error.empty() ? "" : ": ", error));
  }
  return absl::OkStatus();
}

absl::Status RunOne(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  RunConfig config;
  bool flags_end = false;
  for (size_t at = 0; at < words.size(); ++at) {
    if (!flags_end && (words[at] == "--help" || words[at] == "-h")) {
      std::cout << HelpOf(command, arguments.empty() ? "" : arguments[0]);
      return absl::OkStatus();
    }
    if (flags_end || !absl::StartsWith(words[at], "--")) {
      arguments.push_back(words[at]);
    } else if (words[at] == "--") {
      flags_end = true;
    } else {
      OPENSET_RETURN_IF_ERROR(ParseFlag(command, words, &at, &config));
    }
  }
  if (arguments.size() < command.min_arguments || arguments.size() > command.max_arguments) {
    return absl::InvalidArgumentError(
        absl::StrCat("usage: ", Usage(command), " ('openset ", command.name, " --help' shows details)"));
  }
  OPENSET_RETURN_IF_ERROR(Deploy(&config));
  return command.run(arguments, config);
}

absl::Status Dispatch(const std::string& about, const std::vector<Command>& commands,
                      const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || (words[0] == "help" && words.size() == 1)) {
    std::cout << HelpOfAll(about, commands);
    return absl::OkStatus();
  }
  if (words[0] == "--version" || words[0] == "version") {
    std::cout << VersionText();
    return absl::OkStatus();
  }
  const bool help = words[0] == "help";
  const Command* command = Find(commands, words[help ? 1 : 0]);
  if (command == nullptr) return UnknownCommand(commands, words[help ? 1 : 0]);
  if (help) {
    std::cout << HelpOf(*command, words.size() > 2 ? words[2] : "");
    return absl::OkStatus();
  }
  return RunOne(*command, {words.begin() + 1, words.end()});
}

// If a standard stream is closed, the first file that is opened would take its place and receive its output.
void OpenStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", O_RDWR));  // gets the lowest free number
  }
}

}  // namespace

std::string VersionText() {
  std::string text = absl::StrCat("openset ", Version(), ", commit ", BuildCommit(),
                                  BuiltFromChanges() ? ", with changes that are in no commit" : "", "\nbuilt by ",
                                  Compiler(), BuiltWithCuda() ? ", for the CPU and GPUs (CUDA)" : ", for the CPU only");
  const std::string revisions = ThirdPartyRevisions();
  return absl::StrCat(text, revisions.empty() ? "" : absl::StrCat("\n", revisions), "\n");
}

int RunCommandLine(const std::string& about, const std::vector<Command>& commands, int argc, char** argv) {
  OpenStandardStreams();
  // Writing more than `ulimit -f` allows fails with an error instead of a signal, also in workers.
  std::signal(SIGXFSZ, SIG_IGN);
  // Printed text, for example names from other people's files, can't control the terminal.
  const PrintableStream out(&std::cout), error(&std::cerr);
  absl::Status status = Dispatch(about, commands, {argv + 1, argv + argc});
  std::cout.flush();
  if (status.ok() && !std::cout) {
    status = absl::UnavailableError("the output is incomplete: can't write to standard output");
  }
  // Indents further lines, which may come from a file's name, so that they don't look like separate messages.
  if (!status.ok()) {
    std::cerr << "openset: " << absl::StrReplaceAll(Shortened(status.message()), {{"\n", "\n  "}}) << std::endl;
  }
  return ExitCode(status);
}

}  // namespace openset
