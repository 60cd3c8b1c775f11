// Flags that several commands share, and what they make.
#ifndef OPENSET_TOOLS_CLI_FLAGS_H_
#define OPENSET_TOOLS_CLI_FLAGS_H_

#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/statusor.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/store/store.h"
#include "tools/cli/deploy_flags.h"
#include "tools/cli/user_path.h"

ABSL_DECLARE_FLAG(std::string, library);

namespace openset {

// Where names are looked up: below --library, or in the program's runfiles.
absl::StatusOr<SpecFolders> SpecFoldersFromFlags();

// An experiment given on the command line, expanded and planned.
struct LoadedPlan {
  Experiment experiment;
  Plan plan;
  // The first so many trials of the plan are the experiment's; those behind them are candidates of its searches.
  int reported = 0;
  // Tuned trials that are not in the plan yet, because their search has to be run first.
  int waiting = 0;
};
// "180 of them are candidates of searches; tuned trials after them: 6". Precondition: some are waiting.
std::string SearchText(const LoadedPlan& loaded);
absl::StatusOr<LoadedPlan> LoadPlan(const std::string& spec, const Store& store);

// The same of an experiment that was made, or is read already.
absl::StatusOr<LoadedPlan> PlanOf(Experiment experiment, const Store& store);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_H_
