// Shell completion of the `openset` command.
#ifndef OPENSET_TOOLS_CLI_COMPLETION_H_
#define OPENSET_TOOLS_CLI_COMPLETION_H_

#include <map>
#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace openset {

// Names that words of a kind may be, for "method", "metric", "spec" ...
struct CompletionKind {
  std::string name;
  std::string plural;
  std::vector<std::string> names;
};

// Flags whose values are known: words, or names of a kind ("method").
struct CompletionFlag {
  std::string kind;                // "" for `words`
  std::vector<std::string> words;  // also those beside the kind's
};

struct CompletionTables {
  std::vector<Command> commands;
  std::vector<CompletionKind> kinds;
  std::map<std::string, CompletionFlag> flags;  // the values of all others are files, for all the shell knows
};

// A script for bash, which completes commands, what they can do, their flags, and names. What a command takes is read
// from its usage: of "splits NAME | new NAME | attributes" the small words are what it can do; SPEC is a study's name
// or a .textproto, KIND a kind, NAME one of the kind in front of it, or of that which the command is called by. Where
// nothing is known the shell completes files. Words of other characters than those of names are left out, and no word
// is expanded: a file's name can't run anything.
std::string BashCompletion(const CompletionTables& tables);

// The same for zsh, by its bashcompinit.
std::string ZshCompletion(const CompletionTables& tables);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_COMPLETION_H_
