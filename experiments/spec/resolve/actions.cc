#include "experiments/spec/resolve/actions.h"

#include <type_traits>
#include <utility>

#include "core/in_parallel.h"
#include "core/logging.h"
#include "core/proto/traits.h"
#include "data/augment/augment.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// A part of a trial, for a message on an arena that shares it and doesn't change it.
template <typename Part>
Part* Shared(const Part& part) {
  return const_cast<Part*>(&part);
}

template <typename Part>
void ShareAll(const google::protobuf::RepeatedPtrField<Part>& parts, google::protobuf::RepeatedPtrField<Part>* in) {
  for (const Part& part : parts) in->UnsafeArenaAddAllocated(Shared(part));
}

// TrainingSpec.evaluate_every, resolved.
EpochEvaluation EpochEvaluationOf(const Trial& trial) {
  const EvaluateEverySpec& spec = trial.method().training().evaluate_every();
  const EpochSamples samples = EpochSamplesOf(trial);
  EpochEvaluation evaluation;
  evaluation.set_every(spec.epochs());
  *evaluation.mutable_known() = samples.known;
  *evaluation.mutable_unknown() = samples.unknown;
  // The network that is being trained is one, and a pass in training mode would change its statistics.
  const InferenceSpec& inference = trial.method().inference();
  if (spec.has_score() || TraitsOf(inference).has_needs_training()) {
    evaluation.mutable_inference()->mutable_plain();
  } else {
    *evaluation.mutable_inference() = inference;
  }
  *evaluation.mutable_score() = spec.has_score() ? spec.score() : trial.method().score();
  *evaluation.mutable_metric() = trial.metric();
  return evaluation;
}

// The samples for which a command writes outputs.
CommandSamples SamplesOfCommand(const TaskData& data) {
  CommandSamples samples;
  *samples.mutable_test_known() = data.test_known();
  *samples.mutable_test_unknown() = data.test_unknown();
  *samples.mutable_test_shifted() = data.test_shifted();
  if (data.has_validation_known()) *samples.mutable_validation_known() = data.validation_known();
  *samples.mutable_validation_unknown() = data.validation_unknown();
  return samples;
}

// Represents all input perturbations.
const InferenceSpec& AnyPerturbation() {
  static const InferenceSpec* const kAny = [] {
    auto* inference = new InferenceSpec;
    inference->mutable_input_perturbation();
    return inference;
  }();
  return *kAny;
}

}  // namespace

int MembersOf(const MethodSpec& method) { return TraitsOf(method.inference()).members(); }

const Selection& FitSelection(const Trial& trial) {
  const bool on_validation = TraitsOf(trial.method().score()).calibrates() && trial.data().has_validation_known();
  return on_validation ? trial.data().validation_known() : trial.data().train();
}

EpochSamples EpochSamplesOf(const Trial& trial) {
  const TaskData& data = trial.data();
  const bool on_test = trial.method().training().evaluate_every().samples() == EvaluateEverySpec::TEST;
  if (on_test || !data.has_validation_known()) return {data.test_known(), data.test_unknown()};
  return {data.validation_known(), data.validation_unknown()};
}

// A training of the trial's model. `spec` is its method or the method's pretraining; fields with the same names mean
// the same.
template <typename Spec>
ActionSpec* ActionMaker::NewTraining(const Trial& trial, const Spec& spec, uint64_t seed) {
  const MethodSpec& method = trial.method();
  auto* action = google::protobuf::Arena::CreateMessage<ActionSpec>(&arena_);
  TrainAction* train = action->mutable_train();
  train->unsafe_arena_set_allocated_data(Shared(trial.data().train()));
  train->unsafe_arena_set_allocated_model(Shared(method.model()));
  train->unsafe_arena_set_allocated_input(Shared(method.input()));
  ShareAll(spec.augmentation(), train->mutable_augmentation());
  if (spec.has_open_set()) train->unsafe_arena_set_allocated_open_set(Shared(spec.open_set()));
  if (spec.has_loss()) train->unsafe_arena_set_allocated_loss(Shared(spec.loss()));
  if (spec.training().has_evaluate_every()) {
    *train->mutable_training() = spec.training();
    train->mutable_training()->clear_evaluate_every();
  } else if (spec.has_training()) {
    train->unsafe_arena_set_allocated_training(Shared(spec.training()));
  }
  train->set_seed(seed);
  train->unsafe_arena_set_allocated_execution(Shared(trial.execution()));
  if (spec.has_open_set() && TraitsOf(spec.open_set()).external_images()) {
    train->unsafe_arena_set_allocated_external(Shared(trial.data().external()));
  }
  if constexpr (std::is_same_v<Spec, MethodSpec>) {
    if (method.has_views()) train->unsafe_arena_set_allocated_views(Shared(method.views()));
    if (method.training().has_evaluate_every()) *train->mutable_evaluation() = EpochEvaluationOf(trial);
    if (method.training().has_command() && method.model().has_outputs()) {
      *train->mutable_samples() = SamplesOfCommand(trial.data());
    }
  }
  return action;
}

void ActionMaker::Add(ActionKind kind, ActionRole role, int member, absl::InlinedVector<int, 2> inputs,
                      ActionSpec* spec, std::vector<TrialAction>* actions) {
  for (const int input : inputs) {
    const TrialAction& of = (*actions)[input];
    ActionInput* named = spec->add_input();
    named->set_key(ToHex(of.key));
    if (kind == ActionKind::kTrain) {
      named->set_role(ActionInput::START);
    } else if (kind == ActionKind::kInfer) {
      named->set_role(ActionInput::MODEL);
    } else {
      named->set_role(of.role == ActionRole::kFit ? ActionInput::FIT : ActionInput::TEST);
    }
  }
  actions->push_back({kind, role, member, std::move(inputs), spec, digester_.Of(*spec), {}});
}

void ActionMaker::AddInference(const Trial& trial, bool is_fit, bool shares_passes, std::vector<TrialAction>* actions) {
  const MethodSpec& method = trial.method();
  absl::InlinedVector<int, 2> trainings;
  for (size_t a = 0; a < actions->size(); ++a) {
    const TrialAction& before = (*actions)[a];
    if (before.kind != ActionKind::kTrain || before.role == ActionRole::kPretraining) continue;
    trainings.push_back(static_cast<int>(a));
  }
  auto* action = google::protobuf::Arena::CreateMessage<ActionSpec>(&arena_);
  InferAction* infer = action->mutable_infer();
  infer->unsafe_arena_set_allocated_inference(Shared(method.inference()));
  infer->unsafe_arena_set_allocated_execution(Shared(trial.execution()));
  if (is_fit) {
    infer->unsafe_arena_set_allocated_known(Shared(FitSelection(trial)));
  } else {
    infer->unsafe_arena_set_allocated_known(Shared(trial.data().test_known()));
    ShareAll(trial.data().test_unknown(), infer->mutable_unknown());
    ShareAll(trial.data().test_shifted(), infer->mutable_shifted());
  }
  Add(ActionKind::kInfer, is_fit ? ActionRole::kFit : ActionRole::kMain, 0, std::move(trainings), action, actions);
  if (!shares_passes) return;
  infer->unsafe_arena_set_allocated_inference(Shared(AnyPerturbation()));
  actions->back().shared_passes = digester_.Of(*action);
  infer->unsafe_arena_set_allocated_inference(Shared(method.inference()));
}

std::vector<TrialAction> ActionMaker::ActionsOf(const Trial& trial) {
  const MethodSpec& method = trial.method();
  const bool trains = method.has_training() || IsFittedHead(method.model());
  const bool fits = TraitsOf(method.score()).fit();
  const Traits inference = TraitsOf(method.inference());
  std::vector<TrialAction> actions;
  actions.reserve(2 * inference.members() + 3);
  for (int m = 0; m < inference.members(); ++m) {
    const uint64_t seed = trial.seed() * inference.members() + m;
    absl::InlinedVector<int, 2> start;
    if (method.has_pretraining()) {
      start.push_back(static_cast<int>(actions.size()));
      Add(ActionKind::kTrain, ActionRole::kPretraining, m, {}, NewTraining(trial, method.pretraining(), seed),
          &actions);
    }
    Add(ActionKind::kTrain, trains ? ActionRole::kMain : ActionRole::kImport, m, std::move(start),
        NewTraining(trial, method, seed), &actions);
  }
  const auto first = static_cast<int>(actions.size());
  AddInference(trial, /*is_fit=*/false, inference.shares_passes(), &actions);
  if (fits) AddInference(trial, /*is_fit=*/true, inference.shares_passes(), &actions);
  auto* action = google::protobuf::Arena::CreateMessage<ActionSpec>(&arena_);
  EvaluateAction* evaluate = action->mutable_evaluate();
  evaluate->unsafe_arena_set_allocated_score(Shared(method.score()));
  ShareAll(trial.metric(), evaluate->mutable_metric());
  absl::InlinedVector<int, 2> outputs = {first};
  if (fits) outputs.push_back(first + 1);
  Add(ActionKind::kEvaluate, ActionRole::kMain, 0, std::move(outputs), action, &actions);
  return actions;
}

std::vector<std::vector<TrialAction>> ActionsOfAll(const std::vector<Trial>& trials, size_t first, size_t count) {
  constexpr int64_t kRange = 1024;
  std::vector<std::vector<TrialAction>> actions(count);
  InParallelRanges(static_cast<int64_t>(count), kRange, [&](int64_t begin, int64_t end) {
    ActionMaker maker;
    for (int64_t t = begin; t < end; ++t) {
      actions[t] = maker.ActionsOf(trials[first + t]);
      for (TrialAction& action : actions[t]) action.spec = nullptr;
    }
  });
  return actions;
}

namespace {

template <typename Accept>
ActionSpec CopyOf(const Trial& trial, const Accept& accept) {
  ActionMaker maker;
  for (const TrialAction& action : maker.ActionsOf(trial)) {
    if (accept(action)) return *action.spec;
  }
  LOG(FATAL) << "the trial has no such action";
}

}  // namespace

ActionSpec MakeAction(const Trial& trial, ActionKind kind, ActionRole role, int member) {
  return CopyOf(trial, [&](const TrialAction& action) {
    return action.kind == kind && action.role == role && action.member == member;
  });
}

ActionSpec MakeTraining(const Trial& trial, int member) {
  return CopyOf(trial, [&](const TrialAction& action) {
    return action.role != ActionRole::kPretraining && action.member == member;
  });
}

std::string TrialId(const Trial& trial) { return ToHex(ActionMaker().ActionsOf(trial).back().key); }

ActionSpec ChoiceAmong(const std::vector<std::string>& trial_ids) {
  ActionSpec choice;
  choice.mutable_choose();
  for (const std::string& id : trial_ids) {
    ActionInput* input = choice.add_input();
    input->set_role(ActionInput::CANDIDATE);
    input->set_key(id);
  }
  return choice;
}

std::vector<std::string> InputKeys(const ActionSpec& action, ActionInput::Role role) {
  std::vector<std::string> keys;
  for (const ActionInput& input : action.input()) {
    if (input.role() == role) keys.push_back(input.key());
  }
  return keys;
}

std::string InputKey(const ActionSpec& action, ActionInput::Role role) {
  const std::vector<std::string> keys = InputKeys(action, role);
  return keys.empty() ? "" : keys[0];
}

}  // namespace openset
