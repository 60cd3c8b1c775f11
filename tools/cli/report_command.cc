#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"
#include "tools/cli/report_files.h"

ABSL_FLAG(std::string, format, "text", "text, markdown, latex, csv or json; report also html.");
ABSL_FLAG(bool, tidy, false,
          "With --format=csv: a row a trial and metric, as pandas.read_csv and `openset compare` read it.");
ABSL_FLAG(std::string, out, "", "File to write to; empty: standard output.");

namespace openset {
namespace {

absl::Status RunReport(const std::vector<std::string>& arguments) {
  const std::string format = absl::GetFlag(FLAGS_format);
  const bool tidy = absl::GetFlag(FLAGS_tidy);
  if (tidy && format != "csv" && format != "text") {
    return absl::InvalidArgumentError(absl::StrCat("--tidy: is a table for --format=csv, not for ", format));
  }
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(const std::string text, ReportAs(tidy ? "tidy" : format, *study));
  const std::string out = absl::GetFlag(FLAGS_out);
  if (!out.empty()) return WriteFileAtomically(UserPath(out), text);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.arguments = "SPEC";
  command.min_arguments = command.max_arguments = 1;
  command.summary = "Prints an experiment's tables from the records there are.";
  command.description =
      "Text, Markdown and LaTeX show the metrics' own units; csv and json hold the numbers in full precision, json "
      "also\n"
      "every single value with its split and seed, and each record's id, keys and learning curve; html is one page "
      "with tables, plots and provenance that works "
      "offline.\n"
      "\n"
      "  openset report quickstart\n"
      "  openset report quickstart --format=html --out=quickstart.html\n"
      "  openset report quickstart --format=csv --tidy --out=quickstart.csv\n";
  command.flags = {"deploy", "store", "format", "tidy", "out", "devices", "data", "library"};
  command.run = RunReport;
  return command;
}

}  // namespace openset
