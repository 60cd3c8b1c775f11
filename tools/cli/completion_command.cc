#include <iostream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "tools/cli/commands.h"

namespace openset {

Command CompletionCommand() {
  Command command;
  command.name = "completion";
  command.arguments = "bash | zsh";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Prints a script that completes commands, flags and names in bash or zsh.";
  command.description =
      "Put one of these lines into ~/.bashrc or ~/.zshrc. The script asks the program, so it knows the names that "
      "exist\n"
      "when you complete a word, including those in OPENSET_LIBRARY's folders.\n"
      "\n"
      "  source <(openset completion bash)\n"
      "  source <(openset completion zsh)\n";
  command.run = [](const std::vector<std::string>& arguments, const RunConfig& /*config*/) -> absl::Status {
    const std::string& shell = arguments[0];
    if (shell != "bash" && shell != "zsh") {
      return absl::InvalidArgumentError(UnknownName("shell", shell, {"bash", "zsh"}));
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
    OPENSET_ASSIGN_OR_RETURN(const std::string script, ReadFile(JoinPath(runfiles, "openset/tools/cli/completion.sh")));
    std::cout << script;
    return absl::OkStatus();
  };
  return command;
}

}  // namespace openset
