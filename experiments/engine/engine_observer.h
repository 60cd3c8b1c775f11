// Who is told what becomes of a plan.
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

// Told what happens, in the thread that runs the plan. By default, it ignores everything.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  // Everything is ready, and nothing has started: which damaged results were moved to quarantine/, a line each, and
  // which other processes run the same experiment on the store.
  virtual void OnBegin(const std::vector<std::string>& /*quarantined*/, const std::vector<RunState>& /*others*/) {}
  virtual void OnStart(ActionId /*action*/) {}
  virtual void OnProgress(ActionId /*action*/, const WorkProgress& /*progress*/) {}
  // Also of an action that was done together with another one, or by another process, and never started itself.
  virtual void OnFinish(ActionId /*action*/, const absl::Status& /*status*/) {}
  // An input failed, so this is not tried; or the store failed it.
  virtual void OnSkip(ActionId /*action*/) {}
  // It could not be started. While others run it will be tried again, when one of them has ended.
  virtual void OnStartFailure(ActionId /*action*/, const absl::Status& /*status*/) {}
  // Once OnStart() had told of it, its GPU proved lost: it waits for a seat again.
  virtual void OnGpuLost(ActionId /*action*/, const absl::Status& /*why*/) {}
  // This attempt failed, of something that may pass; the next one begins after `wait`.
  virtual void OnRetry(ActionId /*action*/, const absl::Status& /*status*/, absl::Duration /*wait*/) {}
  // Another process, of this run id, works on it; its result is waited for. `was_ours`: it took the action over, since
  // this process slept.
  virtual void OnElsewhere(ActionId /*action*/, const std::string& /*run_id*/, bool /*was_ours*/) {}
  // A choice, which OnStart() told of, added actions that are needed; OnFinish() of it follows.
  virtual void OnGrowth(const std::vector<ActionId>& /*added*/) {}
  // Several times a second.
  virtual void OnTick() {}
  // What this process does, for others to read (Leases::Renew()).
  virtual void Describe(RunState* /*state*/) const {}

  // Of an action and of its passengers.
  void FinishAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnFinish(id, absl::OkStatus());
  }
  void SkipAll(const Plan& plan, ActionId action) {
    for (const ActionId id : plan.DoneWith(plan[action])) OnSkip(id);
  }
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_OBSERVER_H_
