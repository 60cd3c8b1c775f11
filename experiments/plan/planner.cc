#include "experiments/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/in_parallel.h"
#include "core/status_macros.h"
#include "data/open_set/open_set.pb.h"
#include "experiments/plan/halving.h"
#include "experiments/spec/describe.h"
#include "experiments/spec/training_epochs.h"

namespace openset {
namespace {

// Image passes of a training step relative to those of inference: forward, and about twice that backward.
constexpr int64_t kTrainPass = 3;

// Images that pass through the model for a training sample of an epoch: those of each pass, and those beside it.
int64_t ImagesPerSample(const OpenSetSpec& open_set, int views) {
  double images = 1 + views + open_set.plain_passes();
  if (open_set.has_external_images()) images += open_set.external_images().share();
  if (open_set.has_confusing_images()) images += 2;
  return std::llround(images);
}

// Of an input perturbation: two passes forward and one back.
constexpr int64_t kPerturbedPasses = 4;

// Nodes that a thread takes at a time.
constexpr int64_t kRange = 256;
// Trials whose keys are held beside the plan.
constexpr size_t kAtOnce = 1 << 14;

}  // namespace

int Planner::AddTrial(Trial added) {
  const size_t first_node = plan_.nodes.size();
  const int t = static_cast<int>(plan_.trials.size());
  plan_.trials.push_back(std::move(added));
  AddActions(t, keys_.Of(plan_.trials[t]));
  FindStored(first_node);
  return t;
}

int Planner::AddTrials(std::vector<Trial> added) {
  const size_t first_node = plan_.nodes.size();
  const size_t first = plan_.trials.size();
  plan_.trials.insert(plan_.trials.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  if (first == 0) {  // later ones may come in small numbers
    plan_.trial_nodes.reserve(plan_.trials.size());
    plan_.nodes.reserve(plan_.trials.size());
    index_.reserve(plan_.trials.size());
  }
  for (size_t begin = first; begin < plan_.trials.size(); begin += kAtOnce) {
    const std::vector<ActionKeys::Keys> keys =
        KeysOf(plan_.trials, begin, std::min(kAtOnce, plan_.trials.size() - begin));
    for (size_t i = 0; i < keys.size(); ++i) AddActions(static_cast<int>(begin + i), keys[i]);
  }
  FindStored(first_node);
  return static_cast<int>(first);
}

void Planner::AddActions(int t, const ActionKeys::Keys& keys) {
  const Trial& trial = plan_.trials[t];
  of_trial_.clear();
  // Inputs first, so that the order of nodes is an order of execution.
  std::vector<int> trains, infers;
  const int views = trial.method().has_views() ? trial.method().views().count() : 0;
  for (int m = 0; m < static_cast<int>(keys.train.size()); ++m) {
    std::vector<int> inputs;
    if (!keys.start.empty()) {
      inputs.push_back(AddTrain(keys.start[m], trial, trial.method().pretraining(), 0, m, {}));
    }
    trains.push_back(AddTrain(keys.train[m], trial, trial.method(), views, m, inputs));
  }
  infers.push_back(AddInfer(keys.infer, trial, false, trains));
  if (keys.fit.has_value()) infers.push_back(AddInfer(*keys.fit, trial, true, trains));
  plan_.trial_nodes.push_back(AddNode(ActionKind::kEvaluate, keys.evaluate, std::move(infers)).first);
  std::sort(of_trial_.begin(), of_trial_.end());
  of_trial_.erase(std::unique(of_trial_.begin(), of_trial_.end()), of_trial_.end());
  for (const int n : of_trial_) plan_.nodes[n].trials.push_back(t);
}

void Planner::FindStored(size_t first) {
  const auto count = static_cast<int64_t>(plan_.nodes.size() - first);
  InParallelWaitingRanges(count, kRange, [&](int64_t begin, int64_t end) {
    for (size_t n = first + begin; n < first + end; ++n) plan_.nodes[n].done = IsInStore(plan_.nodes[n]);
  });
}

absl::StatusOr<int> Planner::AddSearch(TrialSearch added, bool from_records) {
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
  int choice = -1;
  for (size_t r = 0; r < rungs.reached.size(); ++r) {
    if (choice >= 0) plan_.nodes[choice].done = true;
    choice = AddRung(number, r, rungs.reached[r]);
  }
  return choice;
}

int Planner::AddRung(int number, size_t rung, const std::vector<size_t>& candidates) {
  plan_.searches[number].rung = rung;
  const PlannedSearch planned = plan_.searches[number];
  const TrialSearch& search = planned.search;
  std::vector<int> trials;
  for (const size_t candidate : candidates) {
    trials.push_back(AddTrial(AtRung(search, candidate, rung)));
    FindDone();
    plan_.searches[number].rung_trial[candidate] = trials.back();
    if (rung == 0) continue;
    const std::vector<ActionKeys::Key> now = keys_.Of(plan_.trials[trials.back()]).train;
    const std::vector<ActionKeys::Key> before = keys_.Of(plan_.trials[planned.rung_trial[candidate]]).train;
    for (size_t m = 0; m < now.size(); ++m) {
      PlanNode& node = plan_.nodes[index_.at(now[m])];
      const int earlier = index_.at(before[m]);
      // What was planned before the rung, for another trial, begins by itself.
      if (node.continued >= 0 || earlier >= index_.at(now[m])) continue;
      node.continued = earlier;
      if (!node.done) {
        node.inputs.push_back(earlier);
        node.work -= std::min(node.work, node.work * search.rungs[rung - 1] / search.rungs[rung]);
      }
    }
  }
  return AddChoice(number, trials);
}

int Planner::AddChoice(int search, std::vector<int> trials) {
  PlanNode choose;
  choose.kind = ActionKind::kChoose;
  choose.trials = {plan_.searches[search].search.trial};
  Sha256 key;
  key.Update("choose");
  for (const int trial : trials) {
    choose.inputs.push_back(plan_.trial_nodes[trial]);
    key.Update(plan_.trial_id(trial));
  }
  choose.key = ToHex(key.Finish());
  choose.search = search;
  // Candidates that differ in nothing that decides share their last node.
  std::sort(choose.inputs.begin(), choose.inputs.end());
  choose.inputs.erase(std::unique(choose.inputs.begin(), choose.inputs.end()), choose.inputs.end());
  plan_.nodes.push_back(std::move(choose));
  return static_cast<int>(plan_.nodes.size()) - 1;
}

std::vector<int> Planner::FindNeeded() {
  // Of records all are looked at, of what they are made of only what is needed.
  const auto count = static_cast<int64_t>(plan_.nodes.size() - first_new_);
  InParallelWaitingRanges(count, kRange, [&](int64_t begin, int64_t end) {
    for (size_t n = first_new_ + begin; n < first_new_ + end; ++n) {
      if (plan_.nodes[n].kind == ActionKind::kEvaluate) Check(&plan_.nodes[n]);
    }
  });
  // From the records back: what a missing result needs, and is missing itself.
  std::vector<int> found;
  for (int n = static_cast<int>(first_new_); n < static_cast<int>(plan_.nodes.size()); ++n) {
    if (IsWanted(n)) Need(n, &found);
  }
  first_new_ = plan_.nodes.size();
  std::sort(found.begin(), found.end());
  // Needed input perturbations of one model and the same images go together. A passenger adds a pass for its own image.
  std::map<ActionKeys::Key, int> first;
  for (const auto& [n, group] : new_perturbations_) {
    PlanNode& node = plan_.nodes[n];
    if (!node.needed) continue;
    const auto [entry, is_new] = first.try_emplace(group, n);
    if (is_new) continue;
    node.is_passenger = true;
    node.work /= kPerturbedPasses;
    plan_.nodes[entry->second].together.push_back(n);
  }
  new_perturbations_.clear();
  return found;
}

void Planner::Redo(const std::vector<int>& nodes) {
  std::vector<bool> is_redone(plan_.nodes.size(), false);
  for (const int n : nodes) is_redone[n] = true;
  for (size_t n = 0; n < plan_.nodes.size(); ++n) {
    PlanNode& node = plan_.nodes[n];
    if (node.kind == ActionKind::kChoose) continue;
    is_redone[n] = is_redone[n] || node.redo;
    for (const int input : node.inputs) is_redone[n] = is_redone[n] || is_redone[input];
    if (!is_redone[n] || !node.done) continue;
    node.done = false;
    node.redo = true;
  }
  first_new_ = 0;
}

void Planner::Check(PlanNode* node) {
  if (check_ == nullptr || node->checked || !node->done || node->kind == ActionKind::kChoose) return;
  node->checked = true;
  const absl::Status status = check_(*node);
  if (status.ok()) return;
  node->done = false;
  node->damage = std::string(status.message());
}

// Of records and choices.
bool Planner::IsWanted(int n) const {
  const PlanNode& node = plan_.nodes[n];
  if (node.kind == ActionKind::kEvaluate) return wanted_ == nullptr || wanted_(plan_, n);
  if (node.kind != ActionKind::kChoose) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [this](int record) { return plan_.nodes[record].done || IsWanted(record); });
}

void Planner::Need(int n, std::vector<int>* found) {
  Check(&plan_.nodes[n]);
  if (plan_.nodes[n].done || plan_.nodes[n].needed) return;
  plan_.nodes[n].needed = true;
  found->push_back(n);
  for (const int input : plan_.nodes[n].inputs) Need(input, found);
}

absl::StatusOr<std::vector<int>> Planner::Choose(int n) {
  const int search = plan_.nodes[n].search;
  const PlannedSearch& planned = plan_.searches[search];
  const Trial& trial = plan_.trials[planned.search.trial];
  const auto is_open = [&trial] {
    return absl::NotFoundError(absl::StrCat("the search for ", Describe(trial), ": a candidate has no record"));
  };
  if (const size_t next = planned.rung + 1; next < planned.search.rungs.size()) {
    OPENSET_ASSIGN_OR_RETURN(const Rungs rungs, ReadRungs(planned.search, store_));
    if (rungs.reached.size() <= next) return is_open();
    AddRung(search, next, rungs.reached[next]);
  } else {
    OPENSET_ASSIGN_OR_RETURN(std::optional<Trial> tuned, TunedTrial(trial, planned.search, store_));
    if (!tuned.has_value()) return is_open();
    const int added = AddTrial(*std::move(tuned));
    plan_.searches[search].tuned = added;
    FindDone();
  }
  plan_.nodes[n].done = true;
  plan_.nodes[n].needed = false;
  return FindNeeded();
}

// Some actions of the trial that was added last were another's, and have been done since they were planned.
void Planner::FindDone() {
  for (const int node : of_trial_) {
    PlanNode& shared = plan_.nodes[node];
    if (!shared.done && !shared.redo && shared.damage.empty()) shared.done = IsInStore(shared);
  }
}

std::pair<int, bool> Planner::AddNode(ActionKind kind, const ActionKeys::Key& key, std::vector<int> inputs) {
  const auto [entry, is_new] = index_.try_emplace(key, static_cast<int>(plan_.nodes.size()));
  if (is_new) {
    PlanNode& node = plan_.nodes.emplace_back();
    node.kind = kind;
    node.key = ToHex(key);
    node.inputs = std::move(inputs);
  }
  of_trial_.push_back(entry->second);
  return {entry->second, is_new};
}

// `Stage` is MethodSpec or PretrainingSpec.
template <typename Stage>
int Planner::AddTrain(const ActionKeys::Key& key, const Trial& trial, const Stage& stage, int views, int member,
                      const std::vector<int>& inputs) {
  const auto [index, is_new] = AddNode(ActionKind::kTrain, key, inputs);
  if (is_new) {
    PlanNode& node = plan_.nodes[index];
    node.member = member;
    node.is_pretraining = std::is_same_v<Stage, PretrainingSpec>;
    node.is_import = !stage.has_training();
    int64_t images = Samples(trial.data().train()) * EpochsOf(stage.training());
    const int64_t limit = stage.training().max_steps() * stage.training().batch_size();
    if (limit > 0) images = std::min(images, limit);
    node.work = kTrainPass * images * ImagesPerSample(stage.open_set(), views);
    if (stage.training().has_evaluate_every()) {
      const EvaluateEverySpec& every = stage.training().evaluate_every();
      const bool of_test = every.samples() == EvaluateEverySpec::TEST;
      int64_t measured = Samples(of_test ? trial.data().test_known() : trial.data().validation_known());
      for (const UnknownGroup& group : of_test ? trial.data().test_unknown() : trial.data().validation_unknown()) {
        measured += Samples(group.selection());
      }
      // After every so many epochs, and after the last one.
      const int64_t times = (stage.training().epochs() + every.epochs() - 1) / every.epochs();
      node.work += measured * times;
    }
  }
  return index;
}

int Planner::AddInfer(const ActionKeys::Inference& keys, const Trial& trial, bool is_for_fit,
                      const std::vector<int>& trains) {
  const auto [index, is_new] = AddNode(ActionKind::kInfer, keys.key, trains);
  if (is_new) {
    const InferenceSpec& inference = trial.method().inference();
    PlanNode& node = plan_.nodes[index];
    node.is_for_fit = is_for_fit;
    if (is_for_fit) {
      node.work = Samples(FitSelection(trial));
    } else {
      node.work = Samples(trial.data().test_known());
      for (const UnknownGroup& group : trial.data().test_unknown()) node.work += Samples(group.selection());
      for (const ShiftedGroup& group : trial.data().test_shifted()) node.work += Samples(group.selection());
    }
    node.work *= static_cast<int64_t>(trains.size());
    if (inference.has_input_perturbation() || inference.has_pixel_perturbation()) node.work *= kPerturbedPasses;
    if (inference.has_mc_dropout()) node.work *= inference.mc_dropout().passes();
    if (inference.has_train_mode_pass()) node.work += Samples(trial.data().train());
    if (keys.shared_passes.has_value()) new_perturbations_.emplace_back(index, *keys.shared_passes);
  }
  return index;
}

bool Planner::IsInStore(const PlanNode& node) const {
  switch (node.kind) {
    case ActionKind::kTrain:
      return store_.HasCheckpoint(node.key);
    case ActionKind::kInfer:
      return store_.HasOutputs(node.key);
    case ActionKind::kEvaluate:
      return store_.HasRecord(node.key);
    case ActionKind::kChoose:
      return false;
  }
  return false;
}

// Selections are shared by trials; each is counted once.
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
