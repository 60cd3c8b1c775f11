// TrialSpecs -> the graph of actions that makes their records.
#ifndef OPENSET_EXPERIMENTS_PLAN_PLAN_H_
#define OPENSET_EXPERIMENTS_PLAN_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/spec/action.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/store.h"

namespace openset {

enum class ActionKind { kTrain, kInfer, kEvaluate };

// "train", "infer", "evaluate".
const char* KindName(ActionKind kind);

// One action, done once for all trials that share it.
struct PlanNode {
  ActionKind kind;
  std::string key;          // digest of the action
  TrainAction train;        // set for its kind,
  InferAction infer;        // empty for
  EvaluateAction evaluate;  // the others
  std::vector<int> inputs;  // nodes whose results it reads; they come before it
  std::vector<int> trials;  // of the plan, that need it
  bool done = false;        // its result is in the store
  bool needed = false;      // not done, and a trial without a record depends on it
  // Needed inferences that are done together with this one, because they share passes; they are not started themselves.
  std::vector<int> together;
  bool is_passenger = false;  // in `together` of another node
  int64_t work = 0;           // estimated image passes: a training pass counts 3, an inference pass 1
};

// Whether it takes a model as it was imported: a kTrain without a training.
bool IsImport(const PlanNode& node);

struct Plan {
  std::vector<TrialSpec> trials;
  std::vector<std::string> trial_ids;
  std::vector<PlanNode> nodes;  // inputs first

  int Count(ActionKind kind) const;
  int CountNeeded(ActionKind kind) const;
};

// How many samples a selection holds.
using SampleCounter = std::function<int64_t(const Selection&)>;

// An action that several trials share appears once. Reads only the store's names of files, not their content.
Plan MakePlan(std::vector<TrialSpec> trials, const Store& store, const SampleCounter& count_samples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLAN_H_
