#include "tools/cli/report_files.h"

#include <deque>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/status_macros.h"
#include "experiments/report/format_report.h"

namespace openset {

absl::StatusOr<Report> LoadReport(const LoadedPlan& loaded, const Store& store) {
  const Plan& plan = loaded.plan;
  std::deque<TrialRecord> records;  // keeps addresses
  std::vector<TrialResult> results;
  for (int t = 0; t < loaded.reported; ++t) {
    TrialResult result{&plan.trials[t], nullptr};
    absl::StatusOr<TrialRecord> record = store.LoadRecord(plan.trial_ids[t]);
    if (record.ok()) {
      result.record = &records.emplace_back(*std::move(record));
    } else if (!absl::IsNotFound(record.status())) {
      return record.status();
    }
    results.push_back(result);
  }
  Report report = MakeReport(loaded.experiment.spec.name(), results);
  report.waiting = loaded.waiting;
  return report;
}

absl::Status WriteAndShowReport(const LoadedPlan& loaded, const Store& store) {
  OPENSET_ASSIGN_OR_RETURN(const Report report, LoadReport(loaded, store));
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
