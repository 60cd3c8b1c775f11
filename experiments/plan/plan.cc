#include "experiments/plan/plan.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status_macros.h"
#include "experiments/action/stage.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/actions.h"

namespace openset {

Action& Plan::Add(Action action) {
  action.id = ActionId(actions.size());
  return actions.emplace_back(std::move(action));
}

int Plan::Count(ActionKind kind) const {
  return static_cast<int>(absl::c_count_if(actions, [kind](const Action& action) { return action.kind == kind; }));
}

int Plan::CountNeeded(ActionKind kind) const {
  return static_cast<int>(
      absl::c_count_if(actions, [kind](const Action& action) { return action.kind == kind && action.is_needed(); }));
}

int Plan::CountLeft() const {
  return static_cast<int>(absl::c_count_if(evaluations, [this](ActionId id) { return !(*this)[id].is_done(); }));
}

std::vector<ActionId> Plan::NeededActions() const {
  std::vector<ActionId> needed;
  for (const Action& action : actions) {
    if (action.is_needed()) needed.push_back(action.id);
  }
  return needed;
}

WorkRequest Plan::RequestOf(const Action& action) const {
  WorkRequest request;
  const Trial& trial = TrialOf(action);
  request.set_key(action.key);
  *request.mutable_action() = MakeAction(trial, action.kind, action.role, action.member);
  request.set_runs_network(StageOf(action).RunsModel() && !UsesArraysOnly(trial.method().model()));
  if (action.kind == ActionKind::kEvaluate) *request.mutable_trial() = trial.Spec();
  if (action.continued != kNoAction) request.set_continued_key((*this)[action.continued].key);
  for (const ActionId passenger : action.passengers) *request.add_passenger() = RequestOf((*this)[passenger]);
  return request;
}

std::vector<ActionId> Plan::DoneWith(const Action& action) const {
  std::vector<ActionId> ids = {action.id};
  ids.insert(ids.end(), action.passengers.begin(), action.passengers.end());
  return ids;
}

std::vector<std::string> Plan::ResultKeys(const Action& action) const {
  std::vector<std::string> keys;
  for (const ActionId id : DoneWith(action)) keys.push_back((*this)[id].key);
  return keys;
}

absl::StatusOr<bool> Plan::IsInStore(const Action& action, const Store& store) const {
  for (const std::string& key : ResultKeys(action)) {
    OPENSET_ASSIGN_OR_RETURN(const bool is_there, StageOf(action).IsInStore(store, key));
    if (!is_there) return false;
  }
  return true;
}

std::vector<std::string> SameMethodLines(const Plan& plan) {
  std::vector<std::string> lines;
  std::map<std::string, int> trials;            // of each method
  std::map<std::set<std::string>, int> shared;  // evaluations that several methods share
  std::vector<const std::set<std::string>*> order;
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kEvaluate) continue;
    std::set<std::string> names;
    for (const int trial : action.trials) names.insert(plan.trials[trial].method().name());
    for (const std::string& name : names) ++trials[name];
    if (names.size() < 2) continue;
    const auto [at, is_new] = shared.try_emplace(std::move(names), 0);
    if (is_new) order.push_back(&at->first);
    ++at->second;
  }
  for (const std::set<std::string>* names : order) {
    const int count = shared[*names];
    int all = trials[*names->begin()];  // as searches have candidates, some names have more evaluations than runs
    for (const std::string& name : *names) all = std::min(all, trials[name]);
    lines.push_back(absl::StrCat(names->size(), " methods are the same trial",
                                 count < all ? absl::StrCat(" in ", count, " of ", all, " runs") : "", ": ",
                                 absl::StrJoin(*names, ", ")));
  }
  return lines;
}

}  // namespace openset
