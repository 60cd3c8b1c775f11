// Makes the graph of actions (Plan) from trials and searches.
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
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Whether to make the record of this evaluation.
using RecordFilter = std::function<bool(const Plan& plan, const Action& evaluation)>;

// Is given each intact record of the plan when it is checked. Several threads may call it at once.
using RecordObserver = std::function<void(const std::string& trial_id, const Provenance& provenance)>;

// Makes a plan and extends it during the run: when a search has chosen its values, its tuned trial is added.
//
// An action that several trials share appears once. The planner reads the names of files in the store, and the records
// that a choice compares. With an observer, it also compares records and the inputs of missing results with their
// checksums. Corrupt results count as missing (Plan.damaged), and results that can't be read now as done
// (Plan.unreadable).
class Planner {
 public:
  // If `on_record` is null, results are not compared with their checksums.
  Planner(Store store, SampleCounter count_samples, RecordObserver on_record = nullptr)
      : store_(std::move(store)), count_samples_(std::move(count_samples)), on_record_(std::move(on_record)) {}

  const Plan& plan() const { return plan_; }
  // Moves the plan out. Don't use the planner afterwards.
  Plan TakePlan() { return std::move(plan_); }

  // Adds a trial, and its actions that the plan doesn't have yet. Returns the trial's number.
  int AddTrial(Trial trial);
  // Adds many trials, faster. Returns the number of the first one; the others follow it.
  int AddTrials(std::vector<Trial> trials);

  // Adds the candidates of a search and the choice among them. Returns the choice. `search.trial` is a trial of the
  // plan. For successive halving, adds the rungs that existing records decide (unless `from_records` is false) and the
  // first undecided one. Errors: a read failure (IsReadFailure() in experiments/store/store.h) of a record;
  // kUnimplemented if a newer openset wrote it.
  absl::StatusOr<ActionId> AddSearch(TrialSearch search, bool from_records = true);

  // From now on, makes only the missing records that `wanted` accepts, and choices whose candidates all exist or are
  // wanted. Null: makes all.
  void NeedOnly(RecordFilter wanted) { wanted_ = std::move(wanted); }

  // Checks the records that were added since the last call of FindNeeded(), which otherwise does it.
  void CheckRecords();

  // Finds which of the actions added since the last call are needed. Returns those that are needed now and were not
  // before, inputs first.
  std::vector<ActionId> FindNeeded();

  // Ignores the stored results of these actions and of all actions that depend on them, so that they are made again
  // (Plan.redone). The next FindNeeded() looks at all actions again.
  void Redo(const std::vector<ActionId>& actions);

  // Call this after the corrupt results were removed from the store.
  void ForgetDamage() { plan_.damaged.clear(); }

  // Makes a choice whose candidates all have records. Adds the tuned trial, or the next rung and its choice. Returns
  // the result of FindNeeded(). Errors: kNotFound for a candidate without an intact record; kFailedPrecondition if the
  // criterion is undefined for all candidates; a read failure; kUnimplemented if a newer openset wrote a record.
  absl::StatusOr<std::vector<ActionId>> Choose(ActionId choice);

 private:
  struct KeyHash {
    size_t operator()(const Sha256::Digest& key) const {
      size_t hash;
      std::memcpy(&hash, key.data(), sizeof(hash));
      return hash;
    }
  };

  // Adds the actions of a trial of the plan.
  void AddActions(int trial, const std::vector<TrialAction>& actions);
  // Adds a rung: its trials, which continue trials of the previous rung, and the choice among them.
  ActionId AddRung(int search, size_t rung, const std::vector<size_t>& candidates);
  ActionId AddChoice(int search, const std::vector<int>& trials);
  void FindDone();
  // Finds which of the actions from `first` on are in the store.
  void FindStored(size_t first);
  // True if the file system can't tell; Check() then reports why.
  bool IsInStore(const Action& action) const { return StageOf(action).IsInStore(store_, action.key).value_or(true); }
  int64_t Samples(const Selection& selection);
  bool IsWanted(const Action& action) const;
  void Need(ActionId id, std::vector<ActionId>* found);
  // Compares a result with its checksums, once. Different threads may call it for different actions.
  void Check(Action* action);
  absl::Status CheckResult(const Action& action) const;

  const Store store_;
  const SampleCounter count_samples_;
  const RecordObserver on_record_;
  RecordFilter wanted_;
  Plan plan_;
  absl::flat_hash_map<Sha256::Digest, ActionId, KeyHash> ids_;  // by key
  std::unordered_map<const Selection*, int64_t> samples_;
  // The first action that FindNeeded() has not seen, and those not seen that can share passes, with their shared value.
  size_t first_new_ = 0;
  std::vector<std::pair<ActionId, Sha256::Digest>> new_sharing_;
  std::vector<ActionId> of_trial_;  // the actions of the trial that was added last
  std::mutex damage_mutex_;         // guards plan_.damaged and plan_.unreadable in Check()
};

// The plan of trials without searches.
Plan MakePlan(std::vector<Trial> trials, const Store& store, const SampleCounter& count_samples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLANNER_H_
