#include "experiments/plan/plan.h"

#include "experiments/spec/actions.h"

namespace openset {

const char* KindName(ActionKind kind) {
  switch (kind) {
    case ActionKind::kTrain:
      return "train";
    case ActionKind::kInfer:
      return "infer";
    case ActionKind::kEvaluate:
      return "evaluate";
    case ActionKind::kChoose:
      return "choose";
  }
  return "";
}

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

int Plan::CountLeft() const {
  int count = 0;
  for (const int record : trial_nodes) count += !nodes[record].done;
  return count;
}

TrainAction Plan::TrainActionOf(const PlanNode& node) const {
  TrainAction action = MakeTrainAction(TrialOf(node), node.member);
  return node.is_pretraining ? action.start() : action;
}

InferAction Plan::InferActionOf(const PlanNode& node) const {
  return node.is_for_fit ? MakeFitAction(TrialOf(node)) : MakeInferAction(TrialOf(node));
}

}  // namespace openset
