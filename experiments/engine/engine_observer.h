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

// Told what happens, in the thread that runs the plan. Node numbers are those of Plan.nodes.
class EngineObserver {
 public:
  virtual ~EngineObserver() = default;
  virtual void OnStart(int node) = 0;
  virtual void OnProgress(int node, const WorkProgress& progress) = 0;
  // Also of a node that was done together with another one, or by another process, and never started itself.
  virtual void OnFinish(int node, const absl::Status& status) = 0;
  // An input failed, so this is not tried; or the store failed it.
  virtual void OnSkip(int node) = 0;
  // It could not be started. While others run it will be tried again, when one of them has ended.
  virtual void OnStartFailure(int node, const absl::Status& status) = 0;
  // Once OnStart() had told of it, its GPU proved lost: it waits for a seat again.
  virtual void OnGpuLost(int node, const absl::Status& why) = 0;
  // This attempt failed, of something that may pass; the next one begins after `wait`.
  virtual void OnRetry(int node, const absl::Status& status, absl::Duration wait) = 0;
  // Another process, of this run id, works on it; its result is waited for. `was_ours`: it took the action over, since
  // this process slept.
  virtual void OnElsewhere(int node, const std::string& run_id, bool was_ours) = 0;
  // A choice, which OnStart() told of, added nodes that are needed; OnFinish() of it follows.
  virtual void OnGrowth(const std::vector<int>& added) = 0;
  // Several times a second.
  virtual void OnTick() = 0;
  // What this process does, for others to read (Leases::Renew()).
  virtual void Describe(RunState* state) const = 0;

  // Of a node and of those that are done together with it.
  void FinishAll(const Plan& plan, int node) {
    OnFinish(node, absl::OkStatus());
    for (const int passenger : plan.nodes[node].together) OnFinish(passenger, absl::OkStatus());
  }
  void SkipAll(const Plan& plan, int node) {
    OnSkip(node);
    for (const int passenger : plan.nodes[node].together) OnSkip(passenger);
  }
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ENGINE_OBSERVER_H_
