// Interface for finding processes that do the work which this process leaves to others.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/action/action.h"
#include "experiments/store/processes/leases.h"

namespace openset {

// The work that a process leaves to others, at one point in time.
struct LeftWork {
  std::vector<ActionId> open;  // can start, and nobody has claimed it
  std::vector<ActionId> held;  // claimed by other processes
  int ended = 0;               // actions of the run that are done or have failed
  // The leases of this process; null if there are no other processes.
  Leases* leases = nullptr;
};

class Helpers {
 public:
  virtual ~Helpers() = default;
  // Finds processes for the open actions, without waiting for them. Returns the actions for which no more processes
  // will be found, each with the reason; they count as failed. Errors end the run.
  virtual absl::StatusOr<std::map<ActionId, absl::Status>> Find(const LeftWork& left) = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_
