#include "experiments/plan/planner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/status_macros.h"
#include "data/open_set/open_set.pb.h"
#include "experiments/spec/describe.h"

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

}  // namespace

int Planner::AddTrial(Trial added) {
  const int t = static_cast<int>(plan_.trials.size());
  const Trial& trial = plan_.trials.emplace_back(std::move(added));
  const ActionKeys::Keys keys = keys_.Of(trial);
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
  const auto [last, is_new] = AddNode(ActionKind::kEvaluate, keys.evaluate, infers);
  if (is_new) plan_.nodes[last].done = IsInStore(plan_.nodes[last]);
  plan_.trial_nodes.push_back(last);
  std::sort(of_trial_.begin(), of_trial_.end());
  of_trial_.erase(std::unique(of_trial_.begin(), of_trial_.end()), of_trial_.end());
  for (const int n : of_trial_) plan_.nodes[n].trials.push_back(t);
  return t;
}

int Planner::AddSearch(TrialSearch search) {
  PlanNode choose;
  choose.kind = ActionKind::kChoose;
  choose.trials = {search.trial};
  Sha256 key;
  key.Update("choose");
  for (const Trial& candidate : search.candidates) {
    const int trial = AddTrial(candidate);
    choose.inputs.push_back(plan_.trial_nodes[trial]);
    key.Update(plan_.trial_id(trial));
  }
  choose.key = ToHex(key.Finish());
  choose.search = static_cast<int>(plan_.searches.size());
  // Candidates that differ in nothing that decides share their last node.
  std::sort(choose.inputs.begin(), choose.inputs.end());
  choose.inputs.erase(std::unique(choose.inputs.begin(), choose.inputs.end()), choose.inputs.end());
  plan_.searches.push_back({std::move(search), -1});
  plan_.nodes.push_back(std::move(choose));
  return static_cast<int>(plan_.nodes.size()) - 1;
}

std::vector<int> Planner::FindNeeded() {
  // From the records back: what a missing result needs, and is missing itself.
  std::vector<int> found;
  for (int n = static_cast<int>(first_new_); n < static_cast<int>(plan_.nodes.size()); ++n) {
    const ActionKind kind = plan_.nodes[n].kind;
    if (kind == ActionKind::kEvaluate || kind == ActionKind::kChoose) Need(n, &found);
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

void Planner::Need(int n, std::vector<int>* found) {
  if (plan_.nodes[n].done || plan_.nodes[n].needed) return;
  plan_.nodes[n].needed = true;
  found->push_back(n);
  for (const int input : plan_.nodes[n].inputs) Need(input, found);
}

absl::StatusOr<std::vector<int>> Planner::Choose(int n) {
  const PlannedSearch& planned = plan_.searches[plan_.nodes[n].search];
  const Trial& trial = plan_.trials[planned.search.trial];
  OPENSET_ASSIGN_OR_RETURN(std::optional<Trial> tuned, TunedTrial(trial, planned.search, store_));
  if (!tuned.has_value()) {
    return absl::NotFoundError(absl::StrCat("the search for ", Describe(trial), ": a candidate has no record"));
  }
  const int added = AddTrial(*std::move(tuned));
  plan_.searches[plan_.nodes[n].search].tuned = added;
  plan_.nodes[n].done = true;
  plan_.nodes[n].needed = false;
  // Some of its actions were its candidate's and have been done since they were planned.
  for (const int node : of_trial_) {
    if (!plan_.nodes[node].done && !plan_.nodes[node].redo) plan_.nodes[node].done = IsInStore(plan_.nodes[node]);
  }
  return FindNeeded();
}

std::pair<int, bool> Planner::AddNode(ActionKind kind, const ActionKeys::Key& key, const std::vector<int>& inputs) {
  const auto [entry, is_new] = index_.try_emplace(key, static_cast<int>(plan_.nodes.size()));
  if (is_new) {
    PlanNode& node = plan_.nodes.emplace_back();
    node.kind = kind;
    node.key = ToHex(key);
    node.inputs = inputs;
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
    node.done = IsInStore(node);
    int64_t images = Samples(trial.data().train()) * stage.training().epochs();
    const int64_t limit = stage.training().max_steps() * stage.training().batch_size();
    if (limit > 0) images = std::min(images, limit);
    node.work = kTrainPass * images * ImagesPerSample(stage.open_set(), views);
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
    node.done = IsInStore(node);
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
  for (Trial& trial : trials) planner.AddTrial(std::move(trial));
  planner.FindNeeded();
  return planner.TakePlan();
}

}  // namespace openset
