// Runs a plan: the scheduler decides what starts, an engine runs it, an observer is notified.
#ifndef OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
#define OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/action/action_memory.pb.h"
#include "experiments/engine/claims/claims.h"
#include "experiments/engine/claims/helpers.h"
#include "experiments/engine/engine.h"
#include "experiments/engine/engine_observer.h"
#include "experiments/engine/retry.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Makes a choice (ActionKind::kChoose) whose inputs are done, which adds the tuned trial to the plan. Returns the
// actions that are newly needed, inputs first (Planner::Choose()).
using MakeChoice = std::function<absl::StatusOr<std::vector<ActionId>>(ActionId choice)>;

struct ExecuteOptions {
  ActionMemory memory;
  RetryPolicy retry;
  // No new actions are started after this many have failed; 0: all that do not depend on failed actions are started.
  int max_failures = 0;
  // Prevents other processes from doing the same actions. Null: there are no other processes.
  Leases* leases = nullptr;
  // Which of the needed actions this process starts; absent: all. It leaves the others to other processes and waits for
  // their results, except for choices, which it does not wait for.
  std::function<bool(const Action&)> takes;
  // Which of the actions left to others this process does after all, one at a time, if nobody has claimed them when its
  // patience is over. Absent: none.
  std::function<bool(const Action&)> takes_rather_than_end;
  // A process that has had nothing to claim for this long ends, even if others are still working. Absent: it waits for
  // them.
  std::optional<absl::Duration> patience;
  // Receives the work that this process leaves to others: once before the process ends if it has `patience`, else at
  // each look. May be null.
  Helpers* helpers = nullptr;
  // For processes that share a run (Claims). May be null.
  const FailuresBefore* failures_before = nullptr;
  // Time between two looks at what other processes are doing; longer if a look takes long.
  absl::Duration look = absl::Seconds(1);
  // For a process whose time is running out (SIGUSR1): it starts no new actions, each training saves its state and
  // ends, and anything still running after this time is killed. The error is TimeIsUp().
  absl::Duration ending = absl::Minutes(1);
  // How long trainings may take to save their states after SIGINT, SIGTERM or SIGHUP.
  absl::Duration saving = absl::Seconds(10);
};

// The status of a process that was ended by SIGUSR1: kCancelled.
absl::Status TimeIsUp();

// Executes the needed actions of a plan, each as soon as its inputs are done and a seat is free. Later steps of a trial
// start before earlier ones, so that trials complete; among these, actions with more work left up to their record start
// first, so that no long one is left for the end. Stage::Needs() gives the resources that an action needs. A choice
// needs no seat: this process makes it by calling `choose`, and executes the actions that this adds to the plan.
//
// If another process is working on an action, this one waits for the result, and takes the action over if that process
// dies. A failed action is recorded in the store (FailureRecord) and, if the failure may be temporary, retried. After
// its last attempt, the actions that depend on it are skipped; all others continue. If the engine cannot start an
// action, running actions continue, and the start is retried whenever one of them has ended. If the store is full or
// gone, nothing new is started, running actions may finish, and no failures of actions are recorded.
// SIGINT, SIGTERM or SIGHUP stops the run: each training saves its state and ends, and all other actions are killed; a
// second signal kills everything at once. The next run resumes from the saved states.
// Errors: kAborted if actions failed (with their number); kCancelled if the run was stopped; kFailedPrecondition if an
// action needs a device that is not there; kUnavailable if the store failed, or if GPUs were lost and none is left; the
// engine's error if an action could not be started and nothing is running; those of Helpers::Find().
absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
                         Engine* engine, EngineObserver* observer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
