#include "experiments/spec/actions.h"

#include "core/proto/proto_digest.h"
#include "eval/scores/score_needs.h"

namespace openset {
namespace {

// A training of the trial's model by a MethodSpec or a PretrainingSpec.
template <typename Stage>
TrainAction StageOf(const TrialSpec& trial, const Stage& stage) {
  TrainAction action;
  *action.mutable_data() = trial.data().train();
  *action.mutable_model() = trial.method().model();
  *action.mutable_input() = trial.method().input();
  *action.mutable_augmentation() = stage.augmentation();
  if (stage.has_open_set()) *action.mutable_open_set() = stage.open_set();
  if (stage.open_set().has_external_images()) *action.mutable_external() = trial.data().external();
  if (stage.has_loss()) *action.mutable_loss() = stage.loss();
  if (stage.has_training()) *action.mutable_training() = stage.training();
  action.set_seed(trial.seed());
  *action.mutable_execution() = trial.execution();
  return action;
}

// The inference of the trial on `known`, by one training or by those of an ensemble's members.
InferAction InferenceOn(const Selection& known, const TrialSpec& trial) {
  InferAction action;
  *action.mutable_inference() = trial.method().inference();
  *action.mutable_known() = known;
  const TrainAction train = MakeTrainAction(trial);
  const int members = action.inference().has_ensemble() ? action.inference().ensemble().members() : 1;
  for (int m = 0; m < members; ++m) {
    TrainAction* member = action.add_train();
    *member = train;
    member->set_seed(trial.seed() * members + m);
    if (member->has_start()) member->mutable_start()->set_seed(member->seed());
  }
  return action;
}

}  // namespace

TrainAction MakeTrainAction(const TrialSpec& trial) {
  const MethodSpec& method = trial.method();
  TrainAction action = StageOf(trial, method);
  if (method.has_views()) *action.mutable_views() = method.views();
  if (method.has_pretraining()) *action.mutable_start() = StageOf(trial, method.pretraining());
  return action;
}

InferAction MakeInferAction(const TrialSpec& trial) {
  InferAction action = InferenceOn(trial.data().test_known(), trial);
  *action.mutable_unknown() = trial.data().test_unknown();
  return action;
}

InferAction MakeFitAction(const TrialSpec& trial) {
  const bool calibrates = trial.method().score().has_temperature_scaled_softmax();
  const bool on_validation = calibrates && trial.data().has_validation_known();
  return InferenceOn(on_validation ? trial.data().validation_known() : trial.data().train(), trial);
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
