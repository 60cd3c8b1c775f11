// The commands of a program: names, arguments, flags, help, and what they do.
#ifndef OPENSET_TOOLS_CLI_COMMAND_H_
#define OPENSET_TOOLS_CLI_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

struct Command {
  std::string name;
  std::string arguments;  // "SPEC"; "" if it takes none
  int min_arguments = 0;
  int max_arguments = 0;
  std::string summary;             // one line
  std::string description;         // paragraphs and examples
  std::vector<std::string> flags;  // names of those that it takes, in flags/flag_list.inc
  std::function<absl::Status(const std::vector<std::string>& arguments, const RunConfig& config)> run;
  bool hidden = false;
};

// Describes the program's build: "openset 0.1.0, commit 0123..., with changes that are in no commit\nbuilt by
// gcc 12.2.0, for the CPU only\n".
std::string VersionText();

// Parses the command line, runs the command that it names, and returns the process's exit code. Prints errors to
// standard error, one on each line, indented after the first. Control codes are removed from everything that is printed
// (core/text/terminal.h). "COMMAND --help" and "help COMMAND" print the command's help, "--help" a list of all
// commands, "--version" and "version" VersionText(). If standard output can't be written (a full disk, for example),
// the exit code is 1.
int RunCommandLine(const std::string& about, const std::vector<Command>& commands, int argc, char** argv);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMMAND_H_
