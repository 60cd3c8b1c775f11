// The attempts of one process at the actions of a plan: their progress, their failures, and when they are retried.
#ifndef OPENSET_EXPERIMENTS_ENGINE_ATTEMPTS_H_
#define OPENSET_EXPERIMENTS_ENGINE_ATTEMPTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "experiments/engine/outcome.h"
#include "experiments/engine/retry.h"
#include "experiments/plan/plan.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

class Attempts {
 public:
  explicit Attempts(const RetryPolicy& policy) : policy_(policy) {}

  void Progressed(ActionId id, const WorkProgress& progress) {
    if (progress.epoch() > 0) epochs_[id] = progress.epoch();
  }
  // The action no longer runs.
  void Ended(ActionId id) { epochs_.erase(id); }

  // Whether an action whose attempt failed with `status` should be retried: the failure may be temporary, and retries
  // are left.
  bool MayGoOn(ActionId id, const absl::Status& status) const {
    const auto failed = failed_.find(id);
    return MayPass(status) && (failed == failed_.end() ? 0 : failed->second) < policy_.retries;
  }
  // Returns the record of the attempt that failed just now.
  FailureRecord Record(const Plan& plan, ActionId id, const absl::Status& status, const std::string& log_tail,
                       bool retried) const {
    FailureRecord failure = FailureOf(plan, plan[id], status);
    failure.set_log_tail(log_tail);
    if (const auto epoch = epochs_.find(id); epoch != epochs_.end()) failure.set_epoch(epoch->second);
    failure.set_retried(retried);
    return failure;
  }
  // Counts a failed attempt and schedules the next one. Returns the wait before it.
  absl::Duration PutOff(ActionId id, absl::Duration now) {
    const absl::Duration wait = WaitBeforeRetry(policy_, ++failed_[id]);
    again_at_[id] = now + wait;
    return wait;
  }
  bool any_put_off() const { return !again_at_.empty(); }
  // Returns the actions whose next attempt is due, and removes them from the schedule.
  std::vector<ActionId> TakeDue(absl::Duration now) {
    std::vector<ActionId> due;
    for (const auto& [id, at] : again_at_) {
      if (now >= at) due.push_back(id);
    }
    for (const ActionId id : due) again_at_.erase(id);
    return due;
  }

 private:
  const RetryPolicy policy_;
  std::map<ActionId, int> epochs_;  // current epochs of running trainings
  std::map<ActionId, int> failed_;  // failed attempts of actions that are retried
  std::map<ActionId, absl::Duration> again_at_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_ATTEMPTS_H_
