// The graph of actions that makes the records of trials. experiments/plan/planner.h makes it.
#ifndef OPENSET_EXPERIMENTS_PLAN_PLAN_H_
#define OPENSET_EXPERIMENTS_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/plan/trial_search.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/trial.h"

namespace openset {

enum class ActionKind {
  kTrain,
  kInfer,
  kEvaluate,
  kChoose,  // of the candidates of a search, or of its rung, whose records it reads; it adds the tuned trial, or the
            // next rung's (experiments/plan/planner.h)
};

// "train", "infer", "evaluate", "choose".
const char* KindName(ActionKind kind);

// One action, done once for all trials that share it. The action itself is made from a trial when it is wanted
// (Plan::TrainActionOf ...): a plan of 100,000 trials would not hold them all.
struct PlanNode {
  ActionKind kind;
  std::string key;          // digest of the action
  std::vector<int> inputs;  // nodes whose results it reads; they come before it
  std::vector<int> trials;  // of the plan, that need it, ascending; of kChoose the one that is tuned
  // Which of a trial's actions of its kind it is.
  int member = 0;               // kTrain: of an ensemble's
  bool is_pretraining = false;  // kTrain: the training that the member's starts from
  bool is_for_fit = false;      // kInfer: the one that a score is fitted to
  bool is_import = false;       // kTrain: it takes a model as it was imported, without a training
  int continued = -1;           // kTrain: the node of an earlier rung whose training it goes on from
  int search = -1;              // kChoose: its place in Plan.searches
  bool done = false;            // its result is in the store
  bool needed = false;          // not done, and a trial without a record depends on it
  bool redo = false;            // its result in the store is to be made again: it is not `done`
  bool checked = false;         // its result was compared with its checksums (Planner)
  std::string damage;           // what is wrong with its result in the store: it is not `done`
  bool is_passenger = false;    // in `together` of another node
  // Needed inferences that are done together with this one, because they share passes; they are not started themselves.
  std::vector<int> together;
  int64_t work = 0;  // estimated image passes: a training pass counts 3, an inference pass 1
};

struct PlannedSearch {
  TrialSearch search;
  int tuned = -1;  // the trial that it gave, once the choice is made
  // Of one with rungs: the last that was added, and of each candidate the trial at the last rung that it has reached.
  size_t rung = 0;
  std::vector<int> rung_trial;
};

struct Plan {
  std::vector<Trial> trials;
  std::vector<int> trial_nodes;  // of each trial the node that makes its record
  std::vector<PlanNode> nodes;   // inputs first
  std::vector<PlannedSearch> searches;

  // The id of a trial, and of its record.
  const std::string& trial_id(int trial) const { return nodes[trial_nodes[trial]].key; }

  int Count(ActionKind kind) const;
  int CountNeeded(ActionKind kind) const;
  // The trials without a record.
  int CountLeft() const;

  // The first trial that needs the node.
  const Trial& TrialOf(const PlanNode& node) const { return trials[node.trials[0]]; }
  // Precondition: the node's kind.
  TrainAction TrainActionOf(const PlanNode& node) const;
  InferAction InferActionOf(const PlanNode& node) const;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLAN_H_
