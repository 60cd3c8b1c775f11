// The report of an experiment on screen and in the store.
#ifndef OPENSET_TOOLS_CLI_REPORT_FILES_H_
#define OPENSET_TOOLS_CLI_REPORT_FILES_H_

#include "absl/status/status.h"
#include "experiments/study/study.h"

namespace openset {

// Writes the report in every format below the store's reports/, prints it as text and says where it and the records
// are.
absl::Status WriteAndShowReport(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_REPORT_FILES_H_
