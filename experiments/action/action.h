// An action: one step of a trial. Trials that share an action share its result. experiments/action/stage.h says what
// each kind of action does.
#ifndef OPENSET_EXPERIMENTS_ACTION_ACTION_H_
#define OPENSET_EXPERIMENTS_ACTION_ACTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/spec/resolve/actions.h"

namespace openset {

inline constexpr ActionKind kActionKinds[] = {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate,
                                              ActionKind::kChoose};

// The image passes of a training step for each image: one forward, and a backward pass that costs two.
inline constexpr int64_t kTrainPasses = 3;

// Identifies an action in the plan, the scheduler, the engine and its observers: its index in Plan.actions.
enum class ActionId : int {};
inline constexpr ActionId kNoAction{-1};

enum class ActionState {
  kMissing,   // the result is not in the store, and no record that the run makes depends on it
  kNeeded,    // the result is not in the store, and a record that the run makes depends on it
  kStored,    // the result is in the store
  kVerified,  // the result is in the store and matches its checksums
};

// The request to a worker is not stored here. Plan::RequestOf() makes it from a trial on demand, because a plan of
// 100,000 trials would not fit in memory otherwise.
struct Action {
  ActionId id = kNoAction;
  ActionKind kind = ActionKind::kTrain;
  ActionRole role = ActionRole::kMain;
  ActionState state = ActionState::kMissing;
  std::string key;               // digest of everything that determines the result
  std::vector<ActionId> inputs;  // actions whose results it reads; they precede it in the plan
  std::vector<int> trials;       // trials that need it, ascending; for kChoose, the trial that is tuned
  int64_t work = 0;              // estimated image passes: a training pass counts kTrainPasses, an inference pass 1

  int member = 0;                  // kTrain: index in the ensemble
  ActionId continued = kNoAction;  // kTrain: the training of an earlier rung that this one continues
  int search = -1;                 // kChoose: index in Plan.searches
  // Needed inferences that share passes run together: the first one is started and carries the others as passengers.
  std::vector<ActionId> passengers;
  ActionId carrier = kNoAction;  // of a passenger: the action that carries it

  bool is_done() const { return state == ActionState::kStored || state == ActionState::kVerified; }
  bool is_needed() const { return state == ActionState::kNeeded; }
  bool is_passenger() const { return carrier != kNoAction; }
};

// The resources that an action occupies while it runs. A demand that exceeds the capacity counts as the whole capacity:
// the action runs when no other action uses that resource. The shares are of one GPU.
struct Demand {
  int cpu_threads = 0;
  int gpu_shares = 0;
  int64_t memory_mb = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_ACTION_H_
