// Trials and searches -> the graph of actions that makes their records.
#ifndef OPENSET_EXPERIMENTS_PLAN_PLANNER_H_
#define OPENSET_EXPERIMENTS_PLAN_PLANNER_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/action/stage.h"
#include "experiments/plan/plan.h"
#include "experiments/plan/search.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/record_index.h"
#include "experiments/store/store.h"

namespace openset {

// Whether the record that this action makes is to be made.
using RecordFilter = std::function<bool(const Plan& plan, const Action& evaluation)>;

// Makes a plan, and lets it grow while it is carried out: the choice of a search adds the trial that it tunes.
// An action that several trials share appears once. Of the store only the names of files are read, the records that a
// choice compares; with an index, results that something needs are compared with their checksums: records, and what
// missing results are made of. A damaged one counts as missing (Plan.damaged).
class Planner {
 public:
  // `index` lives as long as the planner. Null: results in the store are not looked at, only whether they are there.
  Planner(Store store, SampleCounter count_samples, RecordIndex* index = nullptr)
      : store_(std::move(store)), count_samples_(std::move(count_samples)), index_(index) {}

  const Plan& plan() const { return plan_; }
  // The planner is of no use afterwards.
  Plan TakePlan() { return std::move(plan_); }

  // Adds a trial and those of its actions that are not there yet. Returns its number.
  int AddTrial(Trial trial);
  // The same for many, faster. Returns the number of the first; the others follow.
  int AddTrials(std::vector<Trial> trials);

  // Adds the candidates of a search and the choice among them; `search.trial` is a trial of the plan. Returns the
  // choice. Of a search with rungs, those that its records have decided so far are added (unless
  // `from_records` is false) and the first one that is open.
  absl::StatusOr<ActionId> AddSearch(TrialSearch search, bool from_records = true);

  // Of the records that are not there only these are made from now on, and the choices whose candidates all are there
  // or among them; null: all.
  void NeedOnly(RecordFilter wanted) { wanted_ = std::move(wanted); }

  // Says what is needed of that which was added since the last call. Returns the actions that are needed now and were
  // not before, inputs first.
  std::vector<ActionId> FindNeeded();

  // The results in the store of these actions and of all that depend on them don't count: they are to be made again
  // (Plan.redone). FindNeeded() then looks at all actions anew.
  void Redo(const std::vector<ActionId>& actions);

  // Damaged results are not in the store any more.
  void ForgetDamage() { plan_.damaged.clear(); }

  // Makes a choice, whose candidates all have records, and adds the tuned trial, or the next rung and its choice.
  // Returns what FindNeeded() does. Errors: those of TunedTrial() and ReadRungs();
  // kNotFound for a candidate without a record.
  absl::StatusOr<std::vector<ActionId>> Choose(ActionId choice);

 private:
  struct KeyHash {
    size_t operator()(const ActionKeys::Key& key) const {
      size_t hash;
      std::memcpy(&hash, key.data(), sizeof(hash));
      return hash;
    }
  };

  // Adds the actions of a trial of the plan.
  void AddActions(int trial, const ActionKeys::Keys& keys);
  // Adds a rung: its trials, which continue those of the rung before, and the choice among them.
  ActionId AddRung(int search, size_t rung, const std::vector<size_t>& candidates);
  ActionId AddChoice(int search, const std::vector<int>& trials);
  void FindDone();
  // Which of the actions from this one on are in the store.
  void FindStored(size_t first);
  bool IsInStore(const Action& action) const { return StageOf(action).IsInStore(store_, action.key); }
  int64_t Samples(const Selection& selection);
  bool IsWanted(const Action& action) const;
  void Need(ActionId id, std::vector<ActionId>* found);
  // Compares a result with its checksums, once. Called from several threads at once, for different actions.
  void Check(Action* action);

  const Store store_;
  const SampleCounter count_samples_;
  RecordIndex* const index_;
  RecordFilter wanted_;
  Plan plan_;
  ActionKeys keys_;
  absl::flat_hash_map<ActionKeys::Key, ActionId, KeyHash> ids_;  // by key
  std::unordered_map<const Selection*, int64_t> samples_;
  // Actions that FindNeeded() has not seen, and those among them that share passes, with what they have in common.
  size_t first_new_ = 0;
  std::vector<std::pair<ActionId, ActionKeys::Key>> new_sharing_;
  // Of the trial that was added last.
  std::vector<TrialAction> trial_actions_;
  std::vector<ActionId> of_trial_;
  std::mutex damage_mutex_;  // of plan_.damaged, in Check()
};

// The plan of trials without searches.
Plan MakePlan(std::vector<Trial> trials, const Store& store, const SampleCounter& count_samples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLANNER_H_
