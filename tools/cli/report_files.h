// The report of an experiment on screen and in the store.
#ifndef OPENSET_TOOLS_CLI_REPORT_FILES_H_
#define OPENSET_TOOLS_CLI_REPORT_FILES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/report/report.h"
#include "experiments/store/store.h"
#include "tools/cli/flags.h"

namespace openset {

// The report of the records that the store has of a plan's trials. Errors: those of Store::LoadRecord.
absl::StatusOr<Report> LoadReport(const LoadedPlan& loaded, const Store& store);

// Writes the report in every format below the store's reports/, prints it as text and says where it and the records
// are.
absl::Status WriteAndShowReport(const LoadedPlan& loaded, const Store& store);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_REPORT_FILES_H_
