// What the processes of a store do of a plan: which of its actions this one claims, and what becomes of those that it
// leaves to others.
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

// By keys of actions, how many attempts had failed before a run that several processes share. Those without are 0.
using FailuresBefore = std::map<std::string, int>;

class Claims {
 public:
  // All outlive the object. Without `leases` there are no other processes. Without `before` this process tries what
  // failed in others before it came; with it, what failed for good since then has failed here too.
  Claims(const Plan& plan, const Store& store, Leases* leases, const FailuresBefore* before)
      : plan_(plan), store_(store), leases_(leases), before_(before) {}

  enum class Fate {
    kOpen,    // nobody works on it
    kTheirs,  // another process does
    kDone,
    kFailed,  // for good, in another process
  };
  struct Found {
    Fate fate = Fate::kOpen;
    std::string run_id;  // of kTheirs
  };

  // Claims the action. kOpen: it is this process's now. Errors: those of Leases::TryClaim().
  absl::StatusOr<Found> TryClaim(ActionId id);
  void Release(ActionId id);

  // This process leaves the action to others: to this run, or to whoever takes it.
  void LeaveTo(ActionId id, const std::string& run_id = "");
  // Of all actions that were left to others what became of them by now. It forgets those that are done or have failed.
  std::vector<std::pair<ActionId, Fate>> LookAtLeft();
  // It is not left to them any more.
  void TakeBack(ActionId id) { left_.erase(id); }
  // Why it failed for good, in another process.
  absl::Status WhyFailed(ActionId id) const;

  // Of these actions, which this process had claimed, those that others took over while it slept, with who has them.
  std::vector<std::pair<ActionId, std::string>> TakeLost(const std::set<ActionId>& running);

 private:
  Fate FateOf(ActionId id, int failures) const;
  int FailuresOf(ActionId id) const;
  bool HasFailed(ActionId id, int failures) const;

  const Plan& plan_;  // grows by choices
  const Store& store_;
  Leases* leases_;
  const FailuresBefore* before_;
  std::map<ActionId, int> left_;            // to others, when so many attempts had failed
  std::map<ActionId, std::string> run_of_;  // the last one that was known to work on it
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CLAIMS_CLAIMS_H_
