// Fake results in a store, for tests.
#ifndef OPENSET_EXPERIMENTS_TESTING_STORED_RESULTS_H_
#define OPENSET_EXPERIMENTS_TESTING_STORED_RESULTS_H_

#include <string>

#include "experiments/spec/action.proto.h"
#include "experiments/store/outputs.h"
#include "experiments/store/store.h"

namespace openset {

// Stores a checkpoint with one tensor under the action's key, and returns the key.
std::string CommitMadeUpCheckpoint(const ActionSpec& action, const Store& store);

// Stores these outputs under the action's key, and returns the key. Precondition: the store has the checkpoints.
std::string CommitMadeUpOutputs(const ActionSpec& action, const Outputs& outputs, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_STORED_RESULTS_H_
