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

// Returns a script for bash that completes commands, their subcommands and flags, and names. It reads the arguments of
// a command from its usage. In "splits NAME | new NAME | attributes", lower-case words are subcommands. SPEC stands for
// a study's name or a .textproto, KIND for a kind, and NAME for a name of the kind before it, or of the kind that the
// command is named after. Otherwise the shell completes files. Words with characters that names can't have are left
// out, and no word is expanded, so that a file's name can't run anything.
std::string BashCompletion(const CompletionTables& tables);

// The same for zsh, by its bashcompinit.
std::string ZshCompletion(const CompletionTables& tables);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMPLETION_H_
