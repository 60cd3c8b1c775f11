// `openset plan --power`: the splits and seeds that a study needs, from the records of a pilot.
#ifndef OPENSET_TOOLS_CLI_PLAN_POWER_H_
#define OPENSET_TOOLS_CLI_PLAN_POWER_H_

#include <string>

#include "absl/status/status.h"

namespace openset {

// Reads --power, --group, --baseline and --format, and prints the plan for the records of `argument`: of a study in the
// store, of a study's folder with a bundle, or of a bundle. Errors: those of MakePowerPlan()
// (experiments/report/power_plan.h); kInvalidArgument for --power that is not METRIC: DIFFERENCE.
absl::Status ShowPower(const std::string& argument);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_PLAN_POWER_H_
