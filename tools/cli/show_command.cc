#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/proto/schema_comments.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/synonyms.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/kinds.h"

namespace openset {
namespace {

// What `list` takes in addition to the kinds.
constexpr char kKinds[] = "kinds", kWords[] = "words";

absl::Status RunShow(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const SchemaComments comments, LoadSchemaComments());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  const std::vector<Kind> kinds = AllKinds(folders, comments);
  OPENSET_ASSIGN_OR_RETURN(const Kind* kind, FindKind(kinds, arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ShowEntry(*kind, arguments[1]));
  std::cout << text;
  return absl::OkStatus();
}

// The words of a command line: the commands or, with the name of one, its subcommands and flags.
std::vector<KindEntry> WordsOf(const std::vector<Command>& commands, const std::string& name) {
  std::vector<KindEntry> words;
  for (const Command& command : commands) {
    if (command.hidden) continue;
    if (name.empty()) words.push_back({command.name, command.summary});
    if (command.name != name) continue;
    for (const absl::string_view form : absl::StrSplit(command.arguments, " | ")) {
      const absl::string_view word = form.substr(0, form.find(' '));
      if (!word.empty() && absl::ascii_islower(word[0]))
        words.push_back({std::string(word), absl::StrCat(name, " ", form)});
    }
    for (const std::string& flag : command.flags) {
      words.push_back({absl::StrCat("--", flag, FindFlag(flag).is_switch ? "" : "="), FindFlag(flag).help});
    }
  }
  return words;
}

// Prints a line for each entry, or only its name.
void Print(const std::vector<KindEntry>& entries, bool names) {
  size_t width = 0;
  for (const KindEntry& entry : entries) width = std::max(width, entry.name.size());
  for (const KindEntry& entry : entries) {
    std::cout << entry.name;
    if (!names) std::cout << std::string(width + 2 - entry.name.size(), ' ') << OneLine(entry.line);
    std::cout << "\n";
  }
}

absl::Status RunList(const std::vector<Command>& commands, const std::vector<std::string>& arguments,
                     const RunConfig& config) {
  const std::string filter = arguments.size() > 1 ? absl::AsciiStrToLower(arguments[1]) : "";
  if (!arguments.empty() && arguments[0] == kWords) {
    const std::vector<KindEntry> words = WordsOf(commands, filter);
    if (words.empty()) return absl::InvalidArgumentError(absl::StrCat("no command is called '", filter, "'"));
    Print(words, config.names);
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const SchemaComments comments, LoadSchemaComments());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  const std::vector<Kind> kinds = AllKinds(folders, comments);
  std::vector<KindEntry> shown;
  if (arguments.empty() || arguments[0] == kKinds) {
    for (const Kind& kind : kinds) shown.push_back({config.names ? PluralOf(kind) : kind.name, kind.what});
    Print(shown, config.names);
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Kind* kind, FindKind(kinds, arguments[0], {kKinds, kWords}));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind->list());
  std::vector<std::string> names;
  for (const KindEntry& entry : entries) names.push_back(entry.name);
  const std::string meant = ResolveSynonym(filter, names).value_or("");
  for (const KindEntry& entry : entries) {
    const bool has_it = absl::StrContains(absl::AsciiStrToLower(absl::StrCat(entry.name, " ", entry.line)), filter);
    if (has_it || entry.name == meant) shown.push_back(entry);
  }
  Print(shown, config.names);
  if (kind->left_out != nullptr) {
    for (const std::string& line : kind->left_out()) std::cerr << "openset: " << line << "\n";
  }
  if (!shown.empty()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no ", kind->name, " has '", arguments[1], "' in its name or line"));
}

}  // namespace

Command ShowCommand() {
  Command command;
  command.name = "show";
  command.arguments = "KIND NAME";
  command.min_arguments = command.max_arguments = 2;
  command.summary = "Shows a method, task, score or other part: every field, its default, limits and meaning.";
  command.description =
      "'openset list' prints the KINDs. A method is shown with everything it inherits: the methods it is based on,\n"
      "its presets and all defaults. The output is a valid method file. Common names work too: MSP, fpr95,\n"
      "Max-Logit.\n"
      "\n"
      "  openset show method knn\n"
      "  openset show method softmax+vaze600\n"
      "  openset show metric fpr_at_95tpr\n";
  command.flags = {"library"};
  command.run = RunShow;
  return command;
}

Command ListCommand(const std::vector<Command>* commands) {
  Command command;
  command.name = "list";
  command.arguments = "[KIND [FILTER]]";
  command.max_arguments = 2;
  command.summary = "Lists methods, tasks, data sets, scores, metrics and more, one on each line.";
  command.description =
      "Without KIND, it lists the kinds. With FILTER, it lists the entries that have FILTER in their name or line,\n"
      "or for which FILTER is another name (fpr95, MSP). 'openset list words' lists the commands, and 'openset list\n"
      "words COMMAND' the subcommands and flags of one.\n"
      "\n"
      "  openset list methods\n"
      "  openset list scores logit\n"
      "  openset list tasks --names\n";
  command.flags = {"library", "names"};
  command.run = [commands](const std::vector<std::string>& arguments, const RunConfig& config) {
    return RunList(*commands, arguments, config);
  };
  return command;
}

}  // namespace openset
