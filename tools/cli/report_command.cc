#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "experiments/report/format_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/flags.h"

ABSL_FLAG(std::string, format, "text", "text, markdown, csv or json; eval, compare and threshold also latex.");
ABSL_FLAG(std::string, out, "", "File to write to; empty: standard output.");

namespace openset {
namespace {

absl::Status RunReport(const std::vector<std::string>& arguments) {
  OPENSET_ASSIGN_OR_RETURN(const ReportFormat format, ParseReportFormat(absl::GetFlag(FLAGS_format)));
  OPENSET_ASSIGN_OR_RETURN(const std::unique_ptr<Study> study, LoadStudy(arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(const Report report, study->MakeReport());
  const std::string text = FormatReport(report, format);
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
      "Text and Markdown show percent; csv and json hold the numbers in full precision, json also every single value\n"
      "with its split and seed, and each record's id, keys and learning curve.\n"
      "\n"
      "  openset report quickstart\n"
      "  openset report quickstart --format=json --out=quickstart.json\n";
  command.flags = {"deploy", "store", "format", "out", "devices", "data", "library"};
  command.run = RunReport;
  return command;
}

}  // namespace openset
