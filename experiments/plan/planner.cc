#include "experiments/plan/planner.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/in_parallel.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "experiments/spec/trial.h"

namespace openset {
namespace {

// Actions that a thread takes at a time.
constexpr int64_t kRange = 256;
// Trials whose actions are in memory at a time, in addition to the plan.
constexpr size_t kAtOnce = 1 << 12;

// The keys of the members' own trainings, without the trainings that they start from.
std::vector<Sha256::Digest> KeysOfTrainings(const Trial& trial) {
  std::vector<Sha256::Digest> keys;
  for (const TrialAction& action : ActionMaker().ActionsOf(trial)) {
    if (action.kind == ActionKind::kTrain && action.role != ActionRole::kPretraining) keys.push_back(action.key);
  }
  return keys;
}

}  // namespace

int Planner::AddTrial(Trial added) {
  const size_t first_action = plan_.actions.size();
  const int t = static_cast<int>(plan_.trials.size());
  plan_.trials.push_back(std::move(added));
  AddActions(t, ActionMaker().ActionsOf(plan_.trials[t]));
  FindStored(first_action);
  return t;
}

int Planner::AddTrials(std::vector<Trial> added) {
  const size_t first_action = plan_.actions.size();
  const size_t first = plan_.trials.size();
  plan_.trials.insert(plan_.trials.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  if (first == 0) {  // later ranges may be small
    plan_.evaluations.reserve(plan_.trials.size());
    plan_.actions.reserve(plan_.trials.size());
    ids_.reserve(plan_.trials.size());
  }
  for (size_t begin = first; begin < plan_.trials.size(); begin += kAtOnce) {
    const std::vector<std::vector<TrialAction>> actions =
        ActionsOfAll(plan_.trials, begin, std::min(kAtOnce, plan_.trials.size() - begin));
    for (size_t i = 0; i < actions.size(); ++i) AddActions(static_cast<int>(begin + i), actions[i]);
  }
  FindStored(first_action);
  return static_cast<int>(first);
}

void Planner::AddActions(int t, const std::vector<TrialAction>& actions) {
  const Trial& trial = plan_.trials[t];
  of_trial_.clear();
  for (const TrialAction& planned : actions) {
    const auto [entry, is_new] = ids_.try_emplace(planned.key, ActionId(plan_.actions.size()));
    const ActionId id = entry->second;
    if (is_new) {
      Action& action = plan_.Add({});
      action.kind = planned.kind;
      action.role = planned.role;
      action.member = planned.member;
      action.key = ToHex(planned.key);
      for (const int input : planned.inputs) action.inputs.push_back(of_trial_[input]);
      action.work =
          StageOf(action).Work(action, trial, [this](const Selection& selection) { return Samples(selection); });
      if (planned.shared_passes.has_value()) new_sharing_.emplace_back(id, *planned.shared_passes);
    }
    // Several actions of a trial may be identical.
    if (std::vector<int>& trials = plan_[id].trials; trials.empty() || trials.back() != t) trials.push_back(t);
    of_trial_.push_back(id);
  }
  plan_.evaluations.push_back(of_trial_.back());
}

void Planner::FindStored(size_t first) {
  const auto count = static_cast<int64_t>(plan_.actions.size() - first);
  InParallelWaitingRanges(count, kRange, [&](int64_t begin, int64_t end) {
    for (size_t a = first + begin; a < first + end; ++a) {
      if (IsInStore(plan_.actions[a])) plan_.actions[a].state = ActionState::kStored;
    }
  });
}

absl::StatusOr<ActionId> Planner::AddSearch(TrialSearch added, bool from_records) {
  const int number = static_cast<int>(plan_.searches.size());
  plan_.searches.push_back({std::move(added), -1});
  const TrialSearch search = plan_.searches[number].search;
  if (search.rungs.empty()) {
    std::vector<int> trials(search.candidates.size());
    std::iota(trials.begin(), trials.end(), AddTrials(search.candidates));
    return AddChoice(number, trials);
  }
  plan_.searches[number].rung_trial.resize(search.candidates.size(), -1);
  Rungs rungs;
  if (from_records) {
    OPENSET_ASSIGN_OR_RETURN(rungs, ReadRungs(search, store_));
  } else {
    std::vector<size_t>& all = rungs.reached.emplace_back(search.candidates.size());
    std::iota(all.begin(), all.end(), 0);
  }
  ActionId choice = kNoAction;
  for (size_t r = 0; r < rungs.reached.size(); ++r) {
    if (choice != kNoAction) plan_[choice].state = ActionState::kStored;
    choice = AddRung(number, r, rungs.reached[r]);
  }
  return choice;
}

ActionId Planner::AddRung(int number, size_t rung, const std::vector<size_t>& candidates) {
  plan_.searches[number].rung = rung;
  const PlannedSearch planned = plan_.searches[number];
  const TrialSearch& search = planned.search;
  std::vector<int> trials;
  for (const size_t candidate : candidates) {
    trials.push_back(AddTrial(AtRung(search, candidate, rung)));
    FindDone();
    plan_.searches[number].rung_trial[candidate] = trials.back();
    if (rung == 0) continue;
    const std::vector<Sha256::Digest> now = KeysOfTrainings(plan_.trials[trials.back()]);
    const std::vector<Sha256::Digest> before = KeysOfTrainings(plan_.trials[planned.rung_trial[candidate]]);
    for (size_t m = 0; m < now.size(); ++m) {
      Action& action = plan_[ids_.at(now[m])];
      const ActionId earlier = ids_.at(before[m]);
      // Trainings that were planned before the rung, for another trial, don't continue an earlier one.
      if (action.continued != kNoAction || earlier >= action.id) continue;
      action.continued = earlier;
      if (!action.is_done()) {
        action.inputs.push_back(earlier);
        action.work -= std::min(action.work, action.work * search.rungs[rung - 1] / search.rungs[rung]);
      }
    }
  }
  return AddChoice(number, trials);
}

ActionId Planner::AddChoice(int search, const std::vector<int>& trials) {
  Action& choice = plan_.Add({});
  choice.kind = ActionKind::kChoose;
  choice.trials = {plan_.searches[search].search.trial};
  choice.search = search;
  std::vector<std::string> ids;
  for (const int trial : trials) {
    choice.inputs.push_back(plan_.evaluations[trial]);
    ids.push_back(plan_.trial_id(trial));
  }
  choice.key = MessageDigest(ChoiceAmong(ids));
  // Candidates with equal keys share their last action.
  std::sort(choice.inputs.begin(), choice.inputs.end());
  choice.inputs.erase(std::unique(choice.inputs.begin(), choice.inputs.end()), choice.inputs.end());
  return choice.id;
}

void Planner::CheckRecords() {
  const auto count = static_cast<int64_t>(plan_.actions.size() - first_new_);
  InParallelWaitingRanges(count, kRange, [&](int64_t begin, int64_t end) {
    for (size_t a = first_new_ + begin; a < first_new_ + end; ++a) {
      if (plan_.actions[a].kind == ActionKind::kEvaluate) Check(&plan_.actions[a]);
    }
  });
}

std::vector<ActionId> Planner::FindNeeded() {
  // All records are checked, but only the inputs of theirs that are needed.
  CheckRecords();
  // Starts at the records: an action is needed if it is missing and a needed action depends on it.
  std::vector<ActionId> found;
  for (size_t a = first_new_; a < plan_.actions.size(); ++a) {
    if (IsWanted(plan_.actions[a])) Need(plan_.actions[a].id, &found);
  }
  first_new_ = plan_.actions.size();
  std::sort(found.begin(), found.end());
  std::map<Sha256::Digest, ActionId> carriers;
  for (const auto& [id, passes] : new_sharing_) {
    Action& action = plan_[id];
    if (!action.is_needed()) continue;
    const auto [carrier, is_new] = carriers.try_emplace(passes, id);
    if (is_new) continue;
    action.carrier = carrier->second;
    action.work = StageOf(action).WorkAsPassenger(plan_.TrialOf(action), action.work);
    plan_[carrier->second].passengers.push_back(id);
  }
  new_sharing_.clear();
  return found;
}

void Planner::Redo(const std::vector<ActionId>& actions) {
  std::set<ActionId> redone(actions.begin(), actions.end());
  redone.insert(plan_.redone.begin(), plan_.redone.end());
  for (Action& action : plan_.actions) {
    if (action.kind == ActionKind::kChoose) continue;
    if (absl::c_any_of(action.inputs, [&](ActionId input) { return redone.count(input) > 0; })) {
      redone.insert(action.id);
    }
    const bool has_result = action.is_done() || plan_.damaged.count(action.id) > 0;
    if (redone.count(action.id) == 0 || !has_result) continue;
    action.state = ActionState::kMissing;
    plan_.redone.insert(action.id);
  }
  first_new_ = 0;
}

absl::Status Planner::CheckResult(const Action& action) const {
  if (action.kind != ActionKind::kEvaluate) return StageOf(action).Check(store_, action.key);
  OPENSET_ASSIGN_OR_RETURN(const Provenance provenance, StageOf(action).LoadProvenance(store_, action.key));
  on_record_(action.key, provenance);
  return absl::OkStatus();
}

void Planner::Check(Action* action) {
  if (on_record_ == nullptr || action->state != ActionState::kStored) return;
  const absl::Status status = CheckResult(*action);
  const bool is_unreadable = IsReadFailure(status);
  action->state = status.ok() || is_unreadable ? ActionState::kVerified : ActionState::kMissing;
  if (status.ok() || absl::IsNotFound(status)) return;  // not found: removed meanwhile
  const std::lock_guard lock(damage_mutex_);
  (is_unreadable ? plan_.unreadable : plan_.damaged)[action->id] = std::string(status.message());
}

// Whether an evaluation or a choice is wanted; false for other kinds.
bool Planner::IsWanted(const Action& action) const {
  if (action.kind == ActionKind::kEvaluate) return wanted_ == nullptr || wanted_(plan_, action);
  if (action.kind != ActionKind::kChoose) return false;
  return absl::c_all_of(action.inputs,
                        [this](ActionId record) { return plan_[record].is_done() || IsWanted(plan_[record]); });
}

void Planner::Need(ActionId id, std::vector<ActionId>* found) {
  Check(&plan_[id]);
  if (plan_[id].state != ActionState::kMissing) return;
  plan_[id].state = ActionState::kNeeded;
  found->push_back(id);
  for (const ActionId input : plan_[id].inputs) Need(input, found);
}

absl::StatusOr<std::vector<ActionId>> Planner::Choose(ActionId choice) {
  const int search = plan_[choice].search;
  const PlannedSearch& planned = plan_.searches[search];
  const Trial& trial = plan_.trials[planned.search.trial];
  const auto is_open = [&trial] {
    return absl::NotFoundError(absl::StrCat("the search for ", Describe(trial), ": a candidate has no record"));
  };
  if (const size_t next = planned.rung + 1; next < planned.search.rungs.size()) {
    OPENSET_ASSIGN_OR_RETURN(const Rungs rungs, ReadRungs(planned.search, store_));
    OPENSET_RETURN_IF_ERROR(Annotate(rungs.undefined, absl::StrCat("the search for ", Describe(trial))));
    if (rungs.reached.size() <= next) return is_open();
    AddRung(search, next, rungs.reached[next]);
  } else {
    OPENSET_ASSIGN_OR_RETURN(std::optional<Trial> tuned, TunedTrial(trial, planned.search, store_));
    if (!tuned.has_value()) return is_open();
    const int added = AddTrial(*std::move(tuned));
    plan_.searches[search].tuned = added;
    FindDone();
  }
  plan_[choice].state = ActionState::kStored;
  return FindNeeded();
}

// Updates the actions of the last trial that it shares with others and that have been done since they were planned.
void Planner::FindDone() {
  for (const ActionId id : of_trial_) {
    Action& shared = plan_[id];
    const bool counts = plan_.redone.count(id) == 0 && plan_.damaged.count(id) == 0;
    if (!shared.is_done() && counts && IsInStore(shared)) shared.state = ActionState::kStored;
  }
}

// Trials share selections, so each one is counted only once.
int64_t Planner::Samples(const Selection& selection) {
  const auto [entry, is_new] = samples_.try_emplace(&selection);
  if (is_new) entry->second = count_samples_(selection);
  return entry->second;
}

Plan MakePlan(std::vector<Trial> trials, const Store& store, const SampleCounter& count_samples) {
  Planner planner(store, count_samples);
  planner.AddTrials(std::move(trials));
  planner.FindNeeded();
  return planner.TakePlan();
}

}  // namespace openset
