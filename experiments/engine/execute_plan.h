// Runs a plan: the scheduler says what starts, an engine runs it, an observer is told.
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

// Makes a choice (ActionKind::kChoose) whose inputs are done: the plan grows by the tuned trial. Returns the actions
// that are needed now and were not before, inputs first (Planner::Choose()).
using MakeChoice = std::function<absl::StatusOr<std::vector<ActionId>>(ActionId choice)>;

struct ExecuteOptions {
  ActionMemory memory;
  RetryPolicy retry;
  // Nothing new is started after so many failed actions; 0: what does not depend on them is.
  int max_failures = 0;
  // Which keep other processes from doing the same. Null: there are none.
  Leases* leases = nullptr;
  // Which of the needed actions this process starts; absent: all. The others are left to other processes, whose results
  // are waited for; choices are not waited for.
  std::function<bool(const Action&)> takes;
  // Which of those that it leaves to others it does all the same, one at a time, once it has run out of patience and
  // nobody has claimed them. Absent: none.
  std::function<bool(const Action&)> takes_rather_than_end;
  // A process that has had nothing to claim for so long ends, whatever others still do. Absent: it waits for them.
  std::optional<absl::Duration> patience;
  // Is told what this process leaves to others: by one with patience before it ends, by another one at each look. May
  // be null.
  Helpers* helpers = nullptr;
  // For processes that share a run (Claims). May be null.
  const FailuresBefore* failures_before = nullptr;
  // Between two looks at what other processes do; longer where a look takes long.
  absl::Duration look = absl::Seconds(1);
  // For a process whose time runs out (SIGUSR1): from then on nothing new is started, each training saves its state and
  // ends, and what still runs after so long is killed. The error is TimeIsUp().
  absl::Duration ending = absl::Minutes(1);
  // What trainings have to save their states after SIGINT, SIGTERM or SIGHUP.
  absl::Duration saving = absl::Seconds(10);
};

// What a process ends with that SIGUSR1 told so: kCancelled.
absl::Status TimeIsUp();

// Executes the needed actions of a plan, each as soon as its inputs and a seat are there; later steps of a trial before
// earlier ones, so that trials complete, then those with more work up to their record, so that none is left for the
// end. What an action takes says Stage::Needs(). A choice takes no seat: it is made here, by
// `choose`, and what it adds to the plan is executed as well.
//
// An action that another process works on is left to it, and done here if that process dies. One that fails is recorded
// in the store (FailureRecord) and, where that may help, tried again; after the last attempt what depends on it is
// skipped; everything else goes on. Where the engine cannot start an action nothing is lost: those that run go on to
// their end, and it is tried again whenever one of them has ended. Where the store is full or gone nothing new is
// started, what runs may finish, and no action is to blame.
// SIGINT, SIGTERM or SIGHUP stops: each training saves its state and ends, all else that runs is killed; a second one
// kills everything at once. What was saved is resumed by the next run.
// Errors: kAborted if actions failed (with their number); kCancelled if it was stopped; kFailedPrecondition if an
// action needs a device that is not there; kUnavailable if the store failed, or if GPUs were lost and
// none is left; the engine's if an action could not be
// started and nothing runs any more; those of Helpers::Find().
absl::Status ExecutePlan(const Plan& plan, const MakeChoice& choose, const Store& store, const ExecuteOptions& options,
                         Engine* engine, EngineObserver* observer);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_EXECUTE_PLAN_H_
