// `openset plan --power`: the splits and seeds that a study needs, from the records of a pilot.
#ifndef OPENSET_TOOLS_CLI_PLAN_POWER_H_
#define OPENSET_TOOLS_CLI_PLAN_POWER_H_

#include <string>

#include "absl/status/status.h"
#include "eval/report/document.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// Reads --power, --group and --baseline, and prints the plan for the records of `argument`: of a study in the
// store, of a study's folder with a bundle, or of a bundle. Errors:
// kInvalidArgument if --power is not METRIC: DIFFERENCE, for an unknown metric, group or baseline, and if no row has
// two splits in common with the baseline. Precondition: the format is text, Markdown, CSV or JSON.
absl::Status ShowPower(const std::string& argument, TextFormat format, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_PLAN_POWER_H_
