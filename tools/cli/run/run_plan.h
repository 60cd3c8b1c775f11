// Runs a study's plan on this machine or by Slurm, with display and report.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiments/plan/plan.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// The names of the flags that RunPlan() reads, directly or through tools/cli/flags/flags.h.
std::vector<std::string> RunFlags();

// Fails if an action of the plan that has no result needs a precision that this machine's CPU lacks
// (experiments/worker/cpu_precision.h). OK for Slurm, whose nodes may have other CPUs.
absl::Status CheckPrecisions(const Plan& plan, const RunConfig& config);

// Runs the actions of the study's plan that have no result, including the choices of searches and the trials that these
// add. Shows progress on standard output. Before anything is written, checks flags, data files and model files:
// kInvalidArgument, kNotFound, kFailedPrecondition, kPermissionDenied (commands). Then kAborted if actions failed,
// kCancelled if the run was stopped, kUnavailable if the store can't be written.
absl::Status RunPlan(Study* study, const RunConfig& config);

// Writes and prints the report, unless the run was stopped, could not begin, or could not import its model
// (kInvalidArgument). Returns the outcome with advice; `after_failure` is the advice if actions failed.
absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure,
                       const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
