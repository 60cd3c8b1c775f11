#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "core/proto/schema_comments.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/metrics/conventions.h"
#include "tools/cli/commands.h"
#include "tools/cli/completion.h"
#include "tools/cli/flags/kinds.h"
#include "tools/cli/flags/run_config.h"

namespace openset {
namespace {

absl::StatusOr<CompletionTables> TablesOf(const std::vector<Command>& commands, const RunConfig& config) {
  CompletionTables tables;
  tables.commands = commands;
  tables.flags = {{"devices", {"", {"auto", "cpu", "cuda:0"}}},
                  {"engine", {"", EngineNames()}},
                  {"format", {"", {"text", "markdown", "latex", "csv", "json", "html", "sentence", "tensorboard"}}},
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
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  for (const Kind& kind : AllKinds(folders, comments)) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind.list());
    CompletionKind& known = tables.kinds.emplace_back(CompletionKind{kind.name, PluralOf(kind), {}});
    for (const KindEntry& entry : entries) known.names.push_back(entry.name);
  }
  return tables;
}

}  // namespace

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
  command.run = [](const std::vector<std::string>& arguments, const RunConfig& /*config*/) {
    const std::string& shell = arguments[0];
    if (shell != "bash" && shell != "zsh") {
      return absl::Status(absl::InvalidArgumentError(UnknownName("shell", shell, {"bash", "zsh"})));
    }
    std::cout << CompletionScript(shell);
    return absl::OkStatus();
  };
  return command;
}

Command CompleteCommand(std::vector<Command> commands) {
  Command command;
  command.name = "complete";
  command.arguments = ":WORD...";
  command.max_arguments = 1000;
  command.flags = {"library"};
  command.hidden = true;
  command.summary = "Completes the last word, for the script of 'completion'. Each word has a colon before it.";
  command.run = [commands = std::move(commands)](const std::vector<std::string>& arguments,
                                                 const RunConfig& config) -> absl::Status {
    std::vector<std::string> words;
    for (const std::string& argument : arguments) words.emplace_back(absl::StripPrefix(argument, ":"));
    if (words.empty()) words.emplace_back();
    OPENSET_ASSIGN_OR_RETURN(const CompletionTables tables, TablesOf(commands, config));
    const Completions completions = Complete(tables, words);
    for (const std::string& word : completions.words) std::cout << word << "\n";
    if (completions.files) std::cout << "/\n";
    return absl::OkStatus();
  };
  return command;
}

}  // namespace openset
