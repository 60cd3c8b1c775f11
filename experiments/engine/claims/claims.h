// Divides the actions of a plan among the processes of a store: which actions this process claims, and what becomes of
// those that it leaves to others.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CLAIMS_CLAIMS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CLAIMS_CLAIMS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/plan/plan.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store.h"

namespace openset {

// For each action's key, the number of attempts that had failed before the start of a run that several processes share.
// 0 if absent.
using FailuresBefore = std::map<std::string, int>;

class Claims {
 public:
  // All arguments must outlive the object. If `leases` is null, there are no other processes. If `before` is null, this
  // process retries actions that failed in other processes before it started; otherwise, an action that has failed for
  // good since `before` counts as failed here too.
  Claims(const Plan& plan, const Store& store, Leases* leases, const FailuresBefore* before)
      : plan_(plan), store_(store), leases_(leases), before_(before) {}

  enum class Fate {
    kOpen,    // nobody works on it
    kTheirs,  // another process works on it
    kDone,
    kFailed,  // for good, in another process
  };
  struct Found {
    Fate fate = Fate::kOpen;
    std::string run_id;  // for kTheirs
  };

  // Tries to claim the action. kOpen: this process now has it. Errors: those of Leases::TryClaim() and
  // Plan::IsInStore().
  absl::StatusOr<Found> TryClaim(ActionId id);
  void Release(ActionId id);

  // Leaves the action to the run `run_id`, or if it is "", to any other process.
  void LeaveTo(ActionId id, const std::string& run_id = "");
  // Returns the current fate of all actions that were left to others, and forgets those that are done or have failed.
  std::vector<std::pair<ActionId, Fate>> LookAtLeft();
  // Stops leaving the action to others.
  void TakeBack(ActionId id) { left_.erase(id); }
  // Returns why the action failed for good in another process.
  absl::Status WhyFailed(ActionId id) const;

  // Returns the actions in `running` that other processes took over while this process slept, with the ids of their
  // runs.
  std::vector<std::pair<ActionId, std::string>> TakeLost(const std::set<ActionId>& running);

 private:
  Fate FateOf(ActionId id, int failures) const;
  int FailuresOf(ActionId id) const;
  bool HasFailed(ActionId id, int failures) const;

  const Plan& plan_;  // grows by choices
  const Store& store_;
  Leases* leases_;
  const FailuresBefore* before_;
  std::map<ActionId, int> left_;            // left to others, with the number of attempts that had failed then
  std::map<ActionId, std::string> run_of_;  // the last run known to work on it
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CLAIMS_CLAIMS_H_
