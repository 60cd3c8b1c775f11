// Who does what a process leaves to others.
#ifndef OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_
#define OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_

#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/action/action.h"
#include "experiments/store/processes/leases.h"

namespace openset {

// What a process leaves to others, at one look.
struct LeftWork {
  std::vector<ActionId> open;  // could start, and nobody has claimed it
  std::vector<ActionId> held;  // other processes work on it
  int ended = 0;               // actions of the run that are done or have failed
  // Of the process that looks; null if there are no others.
  Leases* leases = nullptr;
};

class Helpers {
 public:
  virtual ~Helpers() = default;
  // Finds processes for what is open, and returns at once. Returns why, of the actions for which no more will be found:
  // they have failed. Errors end the run.
  virtual absl::StatusOr<std::map<ActionId, absl::Status>> Find(const LeftWork& left) = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_CLAIMS_HELPERS_H_
