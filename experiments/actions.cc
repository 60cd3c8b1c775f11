#include "experiments/actions.h"

#include "core/proto_digest.h"
#include "eval/scores/score_needs.h"

namespace openset {

TrainAction MakeTrainAction(const TrialSpec& trial) {
  const MethodSpec& method = trial.method();
  TrainAction action;
  *action.mutable_data() = trial.data().train();
  *action.mutable_model() = method.model();
  *action.mutable_input() = method.input();
  *action.mutable_augmentation() = method.augmentation();
  if (method.has_open_set()) *action.mutable_open_set() = method.open_set();
  *action.mutable_loss() = method.loss();
  *action.mutable_training() = method.training();
  action.set_seed(trial.seed());
  *action.mutable_execution() = trial.execution();
  return action;
}

InferAction MakeInferAction(const TrialSpec& trial) {
  InferAction action;
  *action.add_train() = MakeTrainAction(trial);
  *action.mutable_inference() = trial.method().inference();
  *action.mutable_known() = trial.data().test_known();
  *action.mutable_unknown() = trial.data().test_unknown();
  return action;
}

InferAction MakeFitAction(const TrialSpec& trial) {
  InferAction action;
  *action.add_train() = MakeTrainAction(trial);
  *action.mutable_inference() = trial.method().inference();
  *action.mutable_known() = trial.data().train();
  return action;
}

EvaluateAction MakeEvaluateAction(const TrialSpec& trial) {
  EvaluateAction action;
  *action.mutable_test() = MakeInferAction(trial);
  *action.mutable_score() = trial.method().score();
  *action.mutable_metric() = trial.metric();
  if (NeedsOf(trial.method().score()).fit) *action.mutable_fit() = MakeFitAction(trial);
  return action;
}

std::string TrialId(const TrialSpec& trial) { return MessageDigest(MakeEvaluateAction(trial)); }

}  // namespace openset
