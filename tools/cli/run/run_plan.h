// Runs a study's plan on this machine or by Slurm, with display and report.
#ifndef OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
#define OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/slurm/slurm_pilots.h"
#include "experiments/plan/plan.h"
#include "experiments/study/study.h"

namespace openset {

// What Slurm's launcher and pilots add to a run (experiments/engine/slurm/slurm_pilots.h).

class SlurmRun {
 public:
  // For the process that submits. The study and the observer must outlive the result. Errors: those of
  // RunfilesFolder().
  static absl::StatusOr<std::unique_ptr<SlurmRun>> Launcher(const Study& study, const DeploySpec& deploy,
                                                            const ActionMemory& memory, EngineObserver* observer);
  // For a pilot of the array in this file. Errors: those of ThisArray() and LoadLaunch(); kFailedPrecondition if the
  // study has changed since.
  static absl::StatusOr<std::unique_ptr<SlurmRun>> Pilot(const Study& study, const DeploySpec& deploy,
                                                         const ActionMemory& memory, const std::string& file);

  // Sets the options of ExecutePlan() and the engine. The object must outlive the run.
  void SetUp(ExecuteOptions* execute, LocalEngineOptions* engine);
  // Returns the status with which the process ends after the run.
  absl::Status Ended(const absl::Status& outcome) const;

 private:
  SlurmRun(const Study& study, const DeploySpec& deploy, PilotOptions options, EngineObserver* observer)
      : study_(study),
        slurm_(deploy.slurm()),
        options_(std::move(options)),
        pilots_(study.plan(), study.store(), client_, options_, observer) {}

  const Study& study_;
  const SlurmSpec slurm_;
  SlurmClient client_;
  const PilotOptions options_;
  SlurmPilots pilots_;
  SlurmSeat seat_;  // of a pilot
  bool is_pilot_ = false;
};

// Running a planned study from the command line.

// The names of the flags that RunPlan() reads, directly or through tools/cli/flags/flags.h.
std::vector<std::string> RunFlags();

// Fails if an action of the plan that has no result needs a precision that this machine's CPU lacks
// (experiments/worker/cpu_precision.h). OK for Slurm, whose nodes may have other CPUs.
absl::Status CheckPrecisions(const Plan& plan, const DeploySpec& deploy);

// Runs the actions of the study's plan that have no result, including the choices of searches and the trials that these
// add. Shows progress on standard output. Errors: those of ExecutePlan(), and, before anything is written, those of
// checking flags, data files and model files.
absl::Status RunPlan(Study* study);

// Writes and prints the report, unless the run was stopped, could not begin, or could not import its model
// (kInvalidArgument). Returns the outcome with advice; `after_failure` is the advice if actions failed.
absl::Status FinishRun(const Study& study, const absl::Status& outcome, const std::string& after_failure);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_RUN_PLAN_H_
