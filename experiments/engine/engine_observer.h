// Interface for observers of a run.
#ifndef OPENSET_EXPERIMENTS_ENGINE_ENGINE_OBSERVER_H_
#define OPENSET_EXPERIMENTS_ENGINE_ENGINE_OBSERVER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/run_state.pb.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

// Receives the events of a run, in the thread that executes the plan. The default methods do nothing.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  // Everything is ready and nothing has started. `quarantined` lists the corrupt results that were moved to
  // quarantine/, one line each; `others` are the other processes that run the same study on this store.
  virtual void OnBegin(const std::vector<std::string>& /*quarantined*/, const std::vector<RunState>& /*others*/) {}
  virtual void OnStart(ActionId /*action*/) {}
  virtual void OnProgress(ActionId /*action*/, const WorkProgress& /*progress*/) {}
  // Also called for an action that was done together with another one, or by another process, and never started here.
  virtual void OnFinish(ActionId /*action*/, const absl::Status& /*status*/) {}
  // The action is not attempted, because an input failed; or it ended because the store failed.
  virtual void OnSkip(ActionId /*action*/) {}
  // The engine could not start the action. If others are running, it is retried when one of them has ended.
  virtual void OnStartFailure(ActionId /*action*/, const absl::Status& /*status*/) {}
  // After OnStart(), the action's GPU turned out to be lost: the action waits for a seat again.
  virtual void OnGpuLost(ActionId /*action*/, const absl::Status& /*why*/) {}
  // The attempt failed for a reason that may be temporary; the next one begins after `wait`.
  virtual void OnRetry(ActionId /*action*/, const absl::Status& /*status*/, absl::Duration /*wait*/) {}
  // Another process, with this run id, works on the action, and this process waits for the result. `was_ours`: the
  // other process took the action over because this one slept.
  virtual void OnElsewhere(ActionId /*action*/, const std::string& /*run_id*/, bool /*was_ours*/) {}
  // A choice, which OnStart() announced, added actions that are needed; its OnFinish() follows.
  virtual void OnGrowth(const std::vector<ActionId>& /*added*/) {}
  // Called several times a second.
  virtual void OnTick() {}
  // Fills in what this process is doing, for other processes to read (Leases::Renew()).
  virtual void Describe(RunState* /*state*/) const {}

  // Notify about the action and its passengers.
  void FinishAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnFinish(id, absl::OkStatus());
  }
  void SkipAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnSkip(id);
  }
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_OBSERVER_H_
