// A program of sub-commands: what each is called, takes and does.
#ifndef OPENSET_TOOLS_CLI_COMMAND_H_
#define OPENSET_TOOLS_CLI_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/flags/commandlineflag.h"
#include "absl/status/status.h"

namespace openset {

// Whether a flag is on or off: "--NAME" and "--noNAME" need no value.
bool IsSwitch(const absl::CommandLineFlag& flag);

struct Command {
  std::string name;
  std::string arguments;  // "SPEC"; "" if it takes none
  int min_arguments = 0;
  int max_arguments = 0;
  std::string summary;             // one line
  std::string description;         // paragraphs and examples
  std::vector<std::string> flags;  // names of the Abseil flags it reads
  // Those of them that may be given several times: texts, whose values come to stand a line each.
  std::vector<std::string> repeated_flags;
  std::function<absl::Status(const std::vector<std::string>& arguments)> run;
  bool hidden = false;
};

// What the program was built from: "openset 0.1.0, commit 0123..., with changes that are in no commit\nbuilt by
// gcc 12.2.0, for the CPU only\n"; each on a line of its own.
std::string VersionText();

// Parses the command line, runs the command it names and returns the process's exit code. Errors go to standard error,
// a line each, those after the first indented. Nothing that is printed steers the terminal
// (core/text/printable_stream.h). "--help" behind a command, and "help COMMAND", print its help; without a command a
// list of all.
// "--version" and "version" print VersionText(). Where standard output takes no more, a full disk say, the exit code
// is 1.
int RunCommandLine(const std::string& about, const std::vector<Command>& commands, int argc, char** argv);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMMAND_H_
