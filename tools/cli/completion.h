// Shell completion of the `openset` command.
#ifndef OPENSET_TOOLS_CLI_COMPLETION_H_
#define OPENSET_TOOLS_CLI_COMPLETION_H_

#include <map>
#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace openset {

// A kind of word ("method", "metric", "spec") and its names.
struct CompletionKind {
  std::string name;
  std::string plural;
  std::vector<std::string> names;
};

// The known values of a flag: words, names of a kind ("method"), or both.
struct CompletionFlag {
  std::string kind;                // "" if the values are only `words`
  std::vector<std::string> words;  // in addition to the kind's names
};

struct CompletionTables {
  std::vector<Command> commands;
  std::vector<CompletionKind> kinds;
  std::map<std::string, CompletionFlag> flags;  // the values of other flags are completed as files
};

struct Completions {
  std::vector<std::string> words;  // each may take the place of the shell's last word
  bool files = false;              // so may a .textproto or a folder
};

// Completes the last of `words`, which follow the program's name as a shell has them: bash takes --flag=value apart.
// The arguments of a command are read from its usage. In "splits NAME | new NAME | attributes", lower-case words are
// subcommands. SPEC stands for a study's name or a .textproto, KIND for a kind, and NAME for a name of the kind before
// it, or of the kind that the command is named after. Words with characters that names can't have are left out.
// Precondition: `words` is not empty.
Completions Complete(const CompletionTables& tables, const std::vector<std::string>& words);

// The script for "bash" or "zsh" (by its bashcompinit). It asks the program ("openset complete :WORD...") whenever
// something is to be completed. No word is expanded, so that a file's name can't run anything.
std::string CompletionScript(const std::string& shell);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMPLETION_H_
