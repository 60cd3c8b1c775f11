// Trials and searches -> the graph of actions that makes their records.
#ifndef OPENSET_EXPERIMENTS_PLAN_PLANNER_H_
#define OPENSET_EXPERIMENTS_PLAN_PLANNER_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/plan/plan.h"
#include "experiments/plan/search.h"
#include "experiments/spec/actions.h"
#include "experiments/store/store.h"

namespace openset {

// How many samples a selection holds.
using SampleCounter = std::function<int64_t(const Selection&)>;

// Whether the result that the store has of a node is as it was written, or what is wrong with it. Called from several
// threads at once.
using ResultCheck = std::function<absl::Status(const PlanNode& node)>;

// Whether the record that this node of the plan makes is to be made.
using RecordFilter = std::function<bool(const Plan& plan, int node)>;

// Makes a plan, and lets it grow while it is carried out: the choice of a search adds the trial that it tunes.
// An action that several trials share appears once. Of the store only the names of files are read, the records that a
// choice compares, and what `check` reads of results that something needs: records, and what missing results are made
// of. One that is damaged counts as missing (PlanNode.damage).
class Planner {
 public:
  Planner(Store store, SampleCounter count_samples, ResultCheck check = nullptr)
      : store_(std::move(store)), count_samples_(std::move(count_samples)), check_(std::move(check)) {}

  const Plan& plan() const { return plan_; }
  // The planner is of no use afterwards.
  Plan TakePlan() { return std::move(plan_); }

  // Adds a trial and those of its actions that are not there yet. Returns its number.
  int AddTrial(Trial trial);
  // The same for many, faster. Returns the number of the first; the others follow.
  int AddTrials(std::vector<Trial> trials);

  // Adds the candidates of a search and a node that chooses among them; `search.trial` is a trial of the plan. Returns
  // the node's number. Of a search with rungs, those that its records have decided so far are added (unless
  // `from_records` is false) and the first one that is open.
  absl::StatusOr<int> AddSearch(TrialSearch search, bool from_records = true);

  // Of the records that are not there only these are made from now on, and the choices whose candidates all are there
  // or among them; null: all.
  void NeedOnly(RecordFilter wanted) { wanted_ = std::move(wanted); }

  // Says what is needed of that which was added since the last call. Returns the nodes that are needed now and were not
  // before, inputs first.
  std::vector<int> FindNeeded();

  // Of these nodes and of all that depend on them the results in the store don't count: they are to be made again
  // (PlanNode.redo). FindNeeded() then looks at all nodes anew.
  void Redo(const std::vector<int>& nodes);

  // The damaged result of a node is not there any more.
  void ForgetDamage(int node) { plan_.nodes[node].damage.clear(); }

  // Makes the choice of a kChoose node, whose candidates all have records, and adds the tuned trial, or the next rung
  // and the node of its choice. Returns what FindNeeded() does. Errors: those of TunedTrial() and ReadRungs();
  // kNotFound for a candidate without a record.
  absl::StatusOr<std::vector<int>> Choose(int node);

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
  std::pair<int, bool> AddNode(ActionKind kind, const ActionKeys::Key& key, std::vector<int> inputs);
  template <typename Stage>
  int AddTrain(const ActionKeys::Key& key, const Trial& trial, const Stage& stage, int views, int member,
               const std::vector<int>& inputs);
  // Adds a rung: its trials, which go on from those of the rung before, and the node that chooses among them.
  int AddRung(int search, size_t rung, const std::vector<size_t>& candidates);
  int AddChoice(int search, std::vector<int> trials);
  int AddInfer(const ActionKeys::Inference& keys, const Trial& trial, bool is_for_fit, const std::vector<int>& trains);
  void FindDone();
  // What of the nodes from this one on is in the store.
  void FindStored(size_t first);
  bool IsInStore(const PlanNode& node) const;
  int64_t Samples(const Selection& selection);
  bool IsWanted(int node) const;
  void Need(int node, std::vector<int>* found);
  void Check(PlanNode* node);

  const Store store_;
  const SampleCounter count_samples_;
  const ResultCheck check_;
  RecordFilter wanted_;
  Plan plan_;
  ActionKeys keys_;
  absl::flat_hash_map<ActionKeys::Key, int, KeyHash> index_;  // nodes by key
  std::unordered_map<const Selection*, int64_t> samples_;
  // Nodes that FindNeeded() has not seen, and their input perturbations with what those that share passes have in
  // common.
  size_t first_new_ = 0;
  std::vector<std::pair<int, ActionKeys::Key>> new_perturbations_;
  std::vector<int> of_trial_;  // nodes of the trial that is being added
};

// The plan of trials without searches.
Plan MakePlan(std::vector<Trial> trials, const Store& store, const SampleCounter& count_samples);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_PLANNER_H_
