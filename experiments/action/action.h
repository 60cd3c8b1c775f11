// One step of a trial, done once for all trials that share it. What its kind does: experiments/action/stage.h.
#ifndef OPENSET_EXPERIMENTS_ACTION_ACTION_H_
#define OPENSET_EXPERIMENTS_ACTION_ACTION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace openset {

// In the order of a trial.
enum class ActionKind {
  kTrain,
  kInfer,
  kEvaluate,
  kChoose,  // among the candidates of a search, or of its rung; it adds the tuned trial, or the next rung's trials
};

inline constexpr ActionKind kActionKinds[] = {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate,
                                              ActionKind::kChoose};

// Names an action to the plan, the scheduler, the engine and its observers: its place in Plan.actions.
enum class ActionId : int {};
inline constexpr ActionId kNoAction{-1};

// Which of a trial's actions of its kind it is.
enum class ActionRole {
  kMain,
  kPretraining,  // the training that the main one starts from
  kImport,       // a "training" that takes a model as it was imported
  kFit,          // the inference that a score is fitted to
};

enum class ActionState {
  kMissing,   // its result is not in the store, and no record that is to be made depends on it
  kNeeded,    // its result is not in the store, and a record that is to be made depends on it
  kStored,    // its result is in the store
  kVerified,  // the same, and was compared with its checksums
};

// What a worker needs to do it is made from a trial on demand (Plan::RequestOf()): a plan of 100,000 trials would not
// fit in memory otherwise.
struct Action {
  ActionId id = kNoAction;
  ActionKind kind = ActionKind::kTrain;
  ActionRole role = ActionRole::kMain;
  ActionState state = ActionState::kMissing;
  std::string key;               // digest of everything that decides its result
  std::vector<ActionId> inputs;  // whose results it reads; they come before it
  std::vector<int> trials;       // of the plan, that need it, ascending; of kChoose the one that is tuned
  int64_t work = 0;              // estimated image passes: a training pass counts 3, an inference pass 1

  int member = 0;                  // of kTrain: which of an ensemble's
  ActionId continued = kNoAction;  // of kTrain: the action of an earlier rung whose training it continues
  int search = -1;                 // of kChoose: its place in Plan.searches
  // Needed inferences that share passes are done together. The first one has the others as its passengers, which are
  // not started themselves.
  std::vector<ActionId> passengers;
  ActionId carrier = kNoAction;  // of a passenger

  bool is_done() const { return state == ActionState::kStored || state == ActionState::kVerified; }
  bool is_needed() const { return state == ActionState::kNeeded; }
  bool is_passenger() const { return carrier != kNoAction; }
};

// What an action occupies while it runs. More than there is counts as all there is: such an action runs when nothing
// else needs any of it. Shares are those of one GPU.
struct Demand {
  int cpu_threads = 0;
  int gpu_shares = 0;
  int64_t memory_mb = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ACTION_ACTION_H_
