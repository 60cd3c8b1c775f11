// Running a planned experiment from the command line.
#ifndef OPENSET_TOOLS_CLI_RUN_PLAN_H_
#define OPENSET_TOOLS_CLI_RUN_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/store.h"
#include "tools/cli/flags.h"

namespace openset {

// Names of the flags that RunPlan() reads, itself and through tools/cli/flags.h.
std::vector<std::string> RunFlags();

// Runs what is missing of the plan, with progress on standard output, then writes and prints the report.
// Errors: kCancelled if it was stopped, kAborted if actions failed, with `after_failure` behind the reason; those of
// what is looked at before anything is written: flags, data files, model files.
absl::Status RunPlan(const LoadedPlan& loaded, const Store& store, const std::string& after_failure);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_PLAN_H_
