// Runs a plan on a Slurm cluster.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_RUN_ON_SLURM_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_RUN_ON_SLURM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "experiments/engine/execute_plan.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/engine/slurm/slurm_jobs.h"
#include "experiments/plan/plan.h"
#include "experiments/store/store.h"

namespace openset {

struct SlurmRunOptions {
  // With `program`, its command is arguments of the copy.
  SubmitOptions submit;
  // The program that tasks run a copy of, with its runfiles and other programs (CopyProgram()). "": they run the
  // command.
  std::string program, runfiles;
  std::vector<std::string> other_programs;
  ActionMemory memory;
  // How often a task is submitted again that ended without a result and without having got any further.
  int retries = 2;
  int max_failures = 0;
  // Returns once all that can be is submitted.
  bool detach = false;
  absl::Duration poll = absl::Seconds(30);
};

// Submits the needed actions of a plan as job arrays (slurm_arrays.h), each after those that make its inputs, and
// watches the store for their results until all are there. The tasks are processes that run the same experiment by the
// local engine, each its own actions (ExecuteOptions.is_assigned). They have the leases; this process holds none, and
// may end at any time: the tasks go on, and the next call finds them by what the store remembers. What it submitted and
// is in the queue is not submitted again; what left the queue without a result is, unless it failed. Choices are made
// here, and what they add is submitted then. SIGINT, SIGTERM or SIGHUP ends the watching, not the tasks. Errors: those
// of ExecutePlan(), of CopyProgram() and of SubmitArray().
absl::Status RunOnSlurm(const Plan& plan, const MakeChoice& choose, const Store& store, const SlurmClient& client,
                        SlurmRunOptions options, EngineObserver* observer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_RUN_ON_SLURM_H_
