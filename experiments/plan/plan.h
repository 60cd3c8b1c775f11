// The graph of actions that makes the records of trials. experiments/plan/planner.h makes it.
#ifndef OPENSET_EXPERIMENTS_PLAN_PLAN_H_
#define OPENSET_EXPERIMENTS_PLAN_PLAN_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/action/action.h"
#include "experiments/plan/search.h"
#include "experiments/spec/trial.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker.proto.h"

namespace openset {

struct PlannedSearch {
  TrialSearch search;
  int tuned = -1;  // the tuned trial, once the choice is made
  // For successive halving: the last rung that was added, and each candidate's trial at the last rung that it reached.
  size_t rung = 0;
  std::vector<int> rung_trial;
};

struct Plan {
  std::vector<Trial> trials;
  std::vector<ActionId> evaluations;  // for each trial, the action that makes its record
  std::vector<Action> actions;        // inputs first
  std::vector<PlannedSearch> searches;
  // Actions whose results in the store are ignored: corrupt ones, with the problem, and those to make again
  // (Planner::Redo()).
  std::map<ActionId, std::string> damaged;
  // Actions whose results are in the store but can't be read now (IsReadFailure() in experiments/store/store.h), with
  // the problem. They count as done, since they may be intact.
  std::map<ActionId, std::string> unreadable;
  std::set<ActionId> redone;

  const Action& operator[](ActionId id) const { return actions[static_cast<size_t>(id)]; }
  Action& operator[](ActionId id) { return actions[static_cast<size_t>(id)]; }

  // Appends an action and sets its id.
  Action& Add(Action action);

  // The id of a trial, and of its record.
  const std::string& trial_id(int trial) const { return (*this)[evaluations[trial]].key; }

  int Count(ActionKind kind) const;
  int CountNeeded(ActionKind kind) const;
  // The number of trials without a record.
  int CountLeft() const;
  // Each comes after its inputs.
  std::vector<ActionId> NeededActions() const;

  // The first trial that needs the action.
  const Trial& TrialOf(const Action& action) const { return trials[action.trials[0]]; }
  // The request to a worker, including the passengers' requests. Precondition: the action is not a choice.
  WorkRequest RequestOf(const Action& action) const;

  // The action, followed by its passengers.
  std::vector<ActionId> DoneWith(const Action& action) const;
  // The action that carries this one if it is a passenger; otherwise the action itself.
  ActionId CarrierOf(ActionId id) const { return (*this)[id].is_passenger() ? (*this)[id].carrier : id; }
  // The keys of all results that the action makes, and whether the store has all of them. Errors: a read failure
  // (IsReadFailure() in experiments/store/store.h).
  std::vector<std::string> ResultKeys(const Action& action) const;
  absl::StatusOr<bool> IsInStore(const Action& action, const Store& store) const;
};

// ---- Finds methods of a study that are the same under different names.

// One line for each set of methods that share a trial, in the plan's order: "2 methods are the same trial:
// ce_plus+laptop_colour, max_logit+laptop_colour", because a preset replaces every field in which they differ; "2
// methods are the same trial in 31 of 60 runs: react, react (tuned)", because the search chose the values of the
// method.
std::vector<std::string> SameMethodLines(const Plan& plan);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLAN_H_
