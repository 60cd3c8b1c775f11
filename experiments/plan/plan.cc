#include "experiments/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "experiments/spec/actions.h"

namespace openset {
namespace {

// Image passes of a training step relative to those of inference: forward, and about twice that backward.
constexpr int64_t kTrainPass = 3;

// Images that pass through the model for a training sample of an epoch: those of each pass, and those beside it.
int64_t ImagesPerSample(const TrainAction& action) {
  const OpenSetSpec& open_set = action.open_set();
  double images = 1 + action.views().count() * static_cast<int>(action.has_views()) + open_set.plain_passes();
  if (open_set.has_external_images()) images += open_set.external_images().share();
  if (open_set.has_confusing_images()) images += 2;
  return std::llround(images);
}

// Of an input perturbation: two passes forward and one back.
constexpr int64_t kPerturbedPasses = 4;

// What inferences that share passes have in common.
std::string GroupKey(InferAction action) {
  action.mutable_inference()->mutable_input_perturbation()->Clear();
  return MessageDigest(action);
}

// Puts needed input perturbations of one model and the same images together. A passenger adds a pass for its own image.
void GroupPerturbations(std::vector<PlanNode>* nodes) {
  std::map<std::string, int> first;
  for (int n = 0; n < static_cast<int>(nodes->size()); ++n) {
    PlanNode& node = (*nodes)[n];
    if (node.kind != ActionKind::kInfer || !node.needed || !node.infer.inference().has_input_perturbation()) continue;
    const auto [entry, is_new] = first.try_emplace(GroupKey(node.infer), n);
    if (is_new) continue;
    node.is_passenger = true;
    node.work /= kPerturbedPasses;
    (*nodes)[entry->second].together.push_back(n);
  }
}

class Planner {
 public:
  Planner(Plan* plan, const Store& store, const SampleCounter& count_samples)
      : plan_(plan), store_(store), count_samples_(count_samples) {}

  int AddEvaluate(const EvaluateAction& action) {
    const auto [index, is_new] = Add(ActionKind::kEvaluate, MessageDigest(action));
    if (is_new) {
      plan_->nodes[index].evaluate = action;
      plan_->nodes[index].done = store_.HasRecord(plan_->nodes[index].key);
    }
    return index;
  }

  int AddInfer(const InferAction& action) {
    const auto [index, is_new] = Add(ActionKind::kInfer, MessageDigest(action));
    if (is_new) {
      PlanNode& node = plan_->nodes[index];
      node.infer = action;
      node.done = store_.HasOutputs(node.key);
      node.work = count_samples_(action.known());
      for (const UnknownGroup& group : action.unknown()) node.work += count_samples_(group.selection());
      node.work *= action.train_size();
      if (action.inference().has_input_perturbation()) node.work *= kPerturbedPasses;
      if (action.inference().has_mc_dropout()) node.work *= action.inference().mc_dropout().passes();
    }
    return index;
  }

  int AddTrain(const TrainAction& action) {
    std::vector<int> inputs;
    if (action.has_start()) inputs.push_back(AddTrain(action.start()));
    const auto [index, is_new] = Add(ActionKind::kTrain, MessageDigest(action));
    if (is_new) {
      PlanNode& node = plan_->nodes[index];
      node.inputs = std::move(inputs);
      node.train = action;
      node.done = store_.HasCheckpoint(node.key);
      int64_t images = count_samples_(action.data()) * action.training().epochs();
      const int64_t limit = action.training().max_steps() * action.training().batch_size();
      if (limit > 0) images = std::min(images, limit);
      node.work = kTrainPass * images * ImagesPerSample(action);
    }
    return index;
  }

 private:
  // The node of a key, appended if it is new.
  std::pair<int, bool> Add(ActionKind kind, const std::string& key) {
    const auto [entry, is_new] = index_.try_emplace(key, static_cast<int>(plan_->nodes.size()));
    if (is_new) {
      PlanNode node;
      node.kind = kind;
      node.key = key;
      plan_->nodes.push_back(std::move(node));
    }
    return {entry->second, is_new};
  }

  Plan* plan_;
  const Store& store_;
  const SampleCounter& count_samples_;
  std::map<std::string, int> index_;
};

}  // namespace

const char* KindName(ActionKind kind) {
  switch (kind) {
    case ActionKind::kTrain:
      return "train";
    case ActionKind::kInfer:
      return "infer";
    case ActionKind::kEvaluate:
      return "evaluate";
  }
  return "";
}

bool IsImport(const PlanNode& node) { return node.kind == ActionKind::kTrain && !node.train.has_training(); }

int Plan::Count(ActionKind kind) const {
  int count = 0;
  for (const PlanNode& node : nodes) count += node.kind == kind;
  return count;
}

int Plan::CountNeeded(ActionKind kind) const {
  int count = 0;
  for (const PlanNode& node : nodes) count += node.kind == kind && node.needed;
  return count;
}

Plan MakePlan(std::vector<TrialSpec> trials, const Store& store, const SampleCounter& count_samples) {
  Plan plan;
  plan.trials = std::move(trials);
  Planner planner(&plan, store, count_samples);
  for (int t = 0; t < plan.trials.size(); ++t) {
    const EvaluateAction evaluate = MakeEvaluateAction(plan.trials[t]);
    // Inputs first, so that the order of nodes is an order of execution.
    std::vector<int> trains;
    for (const TrainAction& action : evaluate.test().train()) trains.push_back(planner.AddTrain(action));
    std::vector<int> infers = {planner.AddInfer(evaluate.test())};
    if (evaluate.has_fit()) infers.push_back(planner.AddInfer(evaluate.fit()));
    const int last = planner.AddEvaluate(evaluate);
    for (int infer : infers) plan.nodes[infer].inputs = trains;
    plan.nodes[last].inputs = infers;
    plan.trial_ids.push_back(plan.nodes[last].key);

    // The last node, what it reads, and so on.
    std::set<int> all;
    std::vector<int> open = {last};
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      if (!all.insert(index).second) continue;
      open.insert(open.end(), plan.nodes[index].inputs.begin(), plan.nodes[index].inputs.end());
    }
    for (int index : all) plan.nodes[index].trials.push_back(t);
  }
  // From the records back: what a missing result needs, and is missing itself.
  for (int n = static_cast<int>(plan.nodes.size()) - 1; n >= 0; --n) {
    PlanNode& node = plan.nodes[n];
    if (node.kind == ActionKind::kEvaluate) node.needed = !node.done;
    if (!node.needed) continue;
    for (int input : node.inputs) plan.nodes[input].needed = !plan.nodes[input].done;
  }
  GroupPerturbations(&plan.nodes);
  return plan;
}

}  // namespace openset
