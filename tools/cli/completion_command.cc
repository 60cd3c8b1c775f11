#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "core/proto/schema_comments.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/metrics/conventions.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion.h"
#include "tools/cli/flags/deploy_flags.h"
#include "tools/cli/flags/kinds.h"
#include "tools/cli/flags/library_flags.h"

namespace openset {
namespace {

absl::Status PrintCompletion(const std::string& shell, const std::vector<Command>& commands) {
  if (shell != "bash" && shell != "zsh")
    return absl::InvalidArgumentError(UnknownName("shell", shell, {"bash", "zsh"}));
  CompletionTables tables;
  tables.commands = commands;
  tables.flags = {{"devices", {"", {"auto", "cpu", "cuda:0"}}},
                  {"engine", {"", EngineNames()}},
                  {"format", {"", {"text", "markdown", "latex", "csv", "json", "html", "tensorboard"}}},
                  {"like", {"task", {}}},
                  {"methods", {"method", {}}},
                  {"metrics", {"metric", {}}},
                  {"redo", {"method", {"all", "changed", "failed"}}},
                  {"only", {"", {"failed", "missing", "changed"}}},
                  {"score", {"score", {}}},
                  {"task", {"task", {}}},
                  {"width", {"", {"column", "page"}}},
                  {"y", {"metric", {}}}};
  for (const Convention& convention : Conventions()) tables.flags["convention"].words.push_back(convention.name);
  OPENSET_ASSIGN_OR_RETURN(const SchemaComments comments, LoadSchemaComments());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, SpecFoldersFromFlags());
  for (const Kind& kind : AllKinds(folders, comments)) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind.list());
    CompletionKind& known = tables.kinds.emplace_back(CompletionKind{kind.name, PluralOf(kind), {}});
    for (const KindEntry& entry : entries) known.names.push_back(entry.name);
  }
  std::cout << (shell == "bash" ? BashCompletion(tables) : ZshCompletion(tables));
  return absl::OkStatus();
}

}  // namespace

Command CompletionCommand(std::vector<Command> commands) {
  Command command;
  command.name = "completion";
  command.arguments = "bash | zsh";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Prints a script that completes commands, flags and names in bash or zsh.";
  command.description =
      "Put one of these lines into ~/.bashrc or ~/.zshrc. The script knows the names that exist when the shell\n"
      "starts, including those in OPENSET_LIBRARY's folders.\n"
      "\n"
      "  source <(openset completion bash)\n"
      "  source <(openset completion zsh)\n";
  command.flags = {"library"};
  commands.push_back(command);
  command.run = [commands = std::move(commands)](const std::vector<std::string>& arguments) {
    return PrintCompletion(arguments[0], commands);
  };
  return command;
}

}  // namespace openset
