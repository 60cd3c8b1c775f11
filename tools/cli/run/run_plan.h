// Running a planned experiment from the command line.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/study/study.h"

namespace openset {

// Names of the flags that RunPlan() reads, itself and through tools/cli/flags/flags.h.
std::vector<std::string> RunFlags();

// Runs what is missing of the study's plan, with progress on standard output; the choices of searches, and what they
// add, among it. Errors: those of ExecutePlan(); those of what is looked at before anything is written: flags, data
// files, model files.
absl::Status RunPlan(Study* study);

// Says what came of it: writes and prints the report, unless the run was stopped or could not begin, or the model that
// it is about could not be taken over (kInvalidArgument). Returns the outcome, with what to do about it;
// `after_failure` is that where actions failed.
absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
