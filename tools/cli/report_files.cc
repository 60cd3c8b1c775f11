#include "tools/cli/report_files.h"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "experiments/report/format_report.h"

namespace openset {

absl::Status WriteAndShowReport(const Study& study) {
  OPENSET_ASSIGN_OR_RETURN(const Report report, study.MakeReport());
  const Store& store = study.store();
  const std::string folder = store.ReportFolder(report.experiment);
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  for (const auto& [format, ending] : {std::pair{ReportFormat::kText, "txt"},
                                       {ReportFormat::kMarkdown, "md"},
                                       {ReportFormat::kCsv, "csv"},
                                       {ReportFormat::kJson, "json"}}) {
    OPENSET_RETURN_IF_ERROR(
        WriteFileAtomically(JoinPath(folder, absl::StrCat("report.", ending)), FormatReport(report, format)));
  }
  std::cout << "\n"
            << FormatReport(report, ReportFormat::kText) << "\nrecords: " << JoinPath(store.folder(), "records")
            << "\nreport:  " << folder << "/report.{txt,md,csv,json}\n";
  return absl::OkStatus();
}

}  // namespace openset
