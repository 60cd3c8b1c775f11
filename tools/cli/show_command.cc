#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/proto/schema_comments.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/synonyms.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/kinds.h"

namespace openset {
namespace {

absl::Status RunShow(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const SchemaComments comments, LoadSchemaComments());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  const std::vector<Kind> kinds = AllKinds(folders, comments);
  OPENSET_ASSIGN_OR_RETURN(const Kind* kind, FindKind(kinds, arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ShowEntry(*kind, arguments[1]));
  std::cout << text;
  return absl::OkStatus();
}

absl::Status RunList(const std::vector<std::string>& arguments, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const SchemaComments comments, LoadSchemaComments());
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  const std::vector<Kind> kinds = AllKinds(folders, comments);
  if (arguments.empty()) {
    for (const Kind& kind : kinds)
      std::cout << kind.name << std::string(14 - kind.name.size(), ' ') << kind.what << "\n";
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Kind* kind, FindKind(kinds, arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<KindEntry> entries, kind->list());
  const std::string filter = arguments.size() > 1 ? absl::AsciiStrToLower(arguments[1]) : "";
  size_t width = 0;
  std::vector<std::string> names;
  for (const KindEntry& entry : entries) {
    width = std::max(width, entry.name.size());
    names.push_back(entry.name);
  }
  const std::string meant = ResolveSynonym(filter, names).value_or("");
  bool any = false;
  for (const KindEntry& entry : entries) {
    const bool has_it = absl::StrContains(absl::AsciiStrToLower(absl::StrCat(entry.name, " ", entry.line)), filter);
    if (!has_it && entry.name != meant) continue;
    any = true;
    std::cout << entry.name << std::string(width + 2 - entry.name.size(), ' ') << OneLine(entry.line) << "\n";
  }
  if (kind->left_out != nullptr) {
    for (const std::string& line : kind->left_out()) std::cerr << "openset: " << line << "\n";
  }
  if (any) return absl::OkStatus();
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

Command ListCommand() {
  Command command;
  command.name = "list";
  command.arguments = "[KIND [FILTER]]";
  command.max_arguments = 2;
  command.summary = "Lists methods, tasks, data sets, scores, metrics and more, one on each line.";
  command.description =
      "Without KIND, it lists the kinds. With FILTER, it lists the entries that have FILTER in their name or line,\n"
      "or for which FILTER is another name (fpr95, MSP).\n"
      "\n"
      "  openset list methods\n"
      "  openset list scores logit\n";
  command.flags = {"library"};
  command.run = RunList;
  return command;
}

}  // namespace openset
