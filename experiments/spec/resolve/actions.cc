#include "experiments/spec/resolve/actions.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/in_parallel.h"
#include "core/proto/proto_digest.h"
#include "core/proto/traits.h"
#include "data/augment/augment.pb.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/open_set.pb.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// The fields of an action are listed once, below, for two forms: the message, and the bytes whose digest is its key. A
// form makes builders, which accept the fields in the order of their numbers.
class AsMessage {
 public:
  template <typename Action>
  class Builder {
   public:
    explicit Builder(AsMessage* /*form*/) {}
    void Number(int field, uint64_t value) {
      action_.GetReflection()->SetUInt64(&action_, action_.GetDescriptor()->FindFieldByNumber(field), value);
    }
    void Part(int field, const Message& part) {
      const FieldDescriptor* descriptor = action_.GetDescriptor()->FindFieldByNumber(field);
      const auto* reflection = action_.GetReflection();
      (descriptor->is_repeated() ? reflection->AddMessage(&action_, descriptor)
                                 : reflection->MutableMessage(&action_, descriptor))
          ->CopyFrom(part);
    }
    // A part that trials do not share.
    void OwnPart(int field, const Message& part) { Part(field, part); }
    Action Finish() { return std::move(action_); }

   private:
    Action action_;
  };
};

class AsBytes {
 public:
  explicit AsBytes(ActionKeys* keys) : keys_(keys) {}

  template <typename Action>
  class Builder {
   public:
    explicit Builder(AsBytes* form) : keys_(form->keys_), bytes_(*Action::descriptor()) {}
    void Number(int field, uint64_t value) { bytes_.AddNumber(field, value); }
    void Part(int field, const Message& part) { bytes_.AddMessage(field, keys_->BytesOf(part)); }
    void Part(int field, const std::string& action) { bytes_.AddMessage(field, action); }
    void OwnPart(int field, const Message& part) { bytes_.AddMessage(field, CanonicalBytes(part)); }
    std::string Finish() { return bytes_.Finish(); }

   private:
    ActionKeys* keys_;
    CanonicalBuilder bytes_;
  };

 private:
  ActionKeys* keys_;
};

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

// A training of the trial's model. `spec` is its method or the method's pretraining; fields with the same names mean
// the same.
template <typename Form, typename Spec>
auto TrainingOf(Form* form, const Trial& trial, const Spec& spec, uint64_t seed) {
  const MethodSpec& method = trial.method();
  typename Form::template Builder<TrainAction> action(form);
  action.Part(TrainAction::kDataFieldNumber, trial.data().train());
  action.Part(TrainAction::kModelFieldNumber, method.model());
  action.Part(TrainAction::kInputFieldNumber, method.input());
  for (const AugmentationSpec& augmentation : spec.augmentation()) {
    action.Part(TrainAction::kAugmentationFieldNumber, augmentation);
  }
  if (spec.has_open_set()) action.Part(TrainAction::kOpenSetFieldNumber, spec.open_set());
  if (spec.has_loss()) action.Part(TrainAction::kLossFieldNumber, spec.loss());
  if (spec.training().has_evaluate_every()) {
    TrainingSpec training = spec.training();
    training.clear_evaluate_every();
    action.OwnPart(TrainAction::kTrainingFieldNumber, training);
  } else if (spec.has_training()) {
    action.Part(TrainAction::kTrainingFieldNumber, spec.training());
  }
  action.Number(TrainAction::kSeedFieldNumber, seed);
  action.Part(TrainAction::kExecutionFieldNumber, trial.execution());
  if (TraitsOf(spec.open_set()).external_images())
    action.Part(TrainAction::kExternalFieldNumber, trial.data().external());
  if constexpr (std::is_same_v<Spec, MethodSpec>) {
    if (method.has_pretraining()) {
      action.Part(TrainAction::kStartFieldNumber, TrainingOf(form, trial, method.pretraining(), seed));
    }
    if (method.has_views()) action.Part(TrainAction::kViewsFieldNumber, method.views());
    if (method.training().has_evaluate_every()) {
      action.OwnPart(TrainAction::kEvaluationFieldNumber, EpochEvaluationOf(trial));
    }
    if (method.training().has_command() && method.model().has_outputs()) {
      action.OwnPart(TrainAction::kSamplesFieldNumber, SamplesOfCommand(trial.data()));
    }
  }
  return action.Finish();
}

// Member m of a trial of seed s is the training of seed s * members + m.
uint64_t SeedOf(const Trial& trial, int member) { return trial.seed() * MembersOf(trial.method()) + member; }

// The inference of the trained members on `known` and `unknown`, as `inference` says.
template <typename Form, typename Train, typename Unknown, typename Shifted>
auto InferenceOf(Form* form, const std::vector<Train>& trains, const InferenceSpec& inference, const Selection& known,
                 const Unknown& unknown, const Shifted& shifted) {
  typename Form::template Builder<InferAction> action(form);
  for (const Train& train : trains) action.Part(InferAction::kTrainFieldNumber, train);
  action.Part(InferAction::kInferenceFieldNumber, inference);
  action.Part(InferAction::kKnownFieldNumber, known);
  for (const UnknownGroup& group : unknown) action.Part(InferAction::kUnknownFieldNumber, group);
  for (const ShiftedGroup& group : shifted) action.Part(InferAction::kShiftedFieldNumber, group);
  return action.Finish();
}

template <typename Form, typename Infer>
auto RecordOf(Form* form, const Trial& trial, const Infer& test, const Infer* fit) {
  typename Form::template Builder<EvaluateAction> action(form);
  action.Part(EvaluateAction::kTestFieldNumber, test);
  action.Part(EvaluateAction::kScoreFieldNumber, trial.method().score());
  for (const MetricSpec& metric : trial.metric()) action.Part(EvaluateAction::kMetricFieldNumber, metric);
  if (fit != nullptr) action.Part(EvaluateAction::kFitFieldNumber, *fit);
  return action.Finish();
}

template <typename Group>
struct No {
  const Group* begin() const { return nullptr; }
  const Group* end() const { return nullptr; }
};

std::vector<TrainAction> MembersTrainings(const Trial& trial) {
  std::vector<TrainAction> trains;
  for (int m = 0; m < MembersOf(trial.method()); ++m) trains.push_back(MakeTrainAction(trial, m));
  return trains;
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

TrainAction MakeTrainAction(const Trial& trial, int member) {
  AsMessage form;
  return TrainingOf(&form, trial, trial.method(), SeedOf(trial, member));
}

InferAction MakeInferAction(const Trial& trial) {
  AsMessage form;
  return InferenceOf(&form, MembersTrainings(trial), trial.method().inference(), trial.data().test_known(),
                     trial.data().test_unknown(), trial.data().test_shifted());
}

InferAction MakeFitAction(const Trial& trial) {
  AsMessage form;
  return InferenceOf(&form, MembersTrainings(trial), trial.method().inference(), FitSelection(trial),
                     No<UnknownGroup>(), No<ShiftedGroup>());
}

EvaluateAction MakeEvaluateAction(const Trial& trial) {
  AsMessage form;
  if (!TraitsOf(trial.method().score()).fit()) {
    return RecordOf<AsMessage, InferAction>(&form, trial, MakeInferAction(trial), nullptr);
  }
  const InferAction fit = MakeFitAction(trial);
  return RecordOf(&form, trial, MakeInferAction(trial), &fit);
}

std::string TrialId(const Trial& trial) { return ToHex(ActionKeys().Of(trial).evaluate); }

ActionKeys::ActionKeys()
    : start_(*TrainAction::descriptor()),
      train_(*TrainAction::descriptor()),
      infer_(*InferAction::descriptor()),
      fit_(*InferAction::descriptor()),
      passes_(*InferAction::descriptor()),
      evaluate_(*EvaluateAction::descriptor()) {}

const std::string& ActionKeys::BytesOf(const Message& part) {
  const auto [entry, is_new] = parts_.try_emplace(&part);
  if (is_new) entry->second = CanonicalBytes(part);
  return entry->second;
}

int ActionKeys::NumberOf(const TrialMethod& method) {
  const auto [entry, is_new] = numbers_.try_emplace(&method, -1);
  // Measurements during the training depend on the score.
  if (!is_new || method.method.training().has_evaluate_every()) return entry->second;
  MethodSpec rest = method.method;
  rest.clear_score();
  entry->second = methods_.try_emplace(CanonicalBytes(rest), static_cast<int>(methods_.size())).first->second;
  return entry->second;
}

ActionKeys::Stem ActionKeys::StemOf(const Trial& trial) {
  const bool fits = TraitsOf(trial.method().score()).fit();
  return {trial.shared_data().get(), trial.shared_protocol().get(), fits ? &FitSelection(trial) : nullptr,
          NumberOf(*trial.shared_method()), trial.seed()};
}

bool ActionKeys::AreEqual(const Stem& a, const Stem& b) {
  return a.method >= 0 && a.method == b.method && a.seed == b.seed && a.data == b.data && a.protocol == b.protocol &&
         a.fit == b.fit;
}

void ActionKeys::MakeStem(const Trial& trial, const Stem& stem) {
  const MethodSpec& method = trial.method();
  const TaskData& data = trial.data();
  AsBytes form(this);
  stem_ = stem;
  keys_ = {};
  std::vector<std::string> trains;
  for (int m = 0; m < MembersOf(method); ++m) {
    const uint64_t seed = SeedOf(trial, m);
    if (method.has_pretraining()) {
      keys_.start.push_back(start_.Of(TrainingOf(&form, trial, method.pretraining(), seed)));
    }
    trains.push_back(TrainingOf(&form, trial, method, seed));
    keys_.train.push_back(train_.Of(trains.back()));
  }
  const bool shares_passes = TraitsOf(method.inference()).shares_passes();
  const auto infer = [&](const Selection& known, const auto& unknown, const auto& shifted, CanonicalDigester* digester,
                         Inference* inference) {
    std::string bytes = InferenceOf(&form, trains, method.inference(), known, unknown, shifted);
    inference->key = digester->Of(bytes);
    if (shares_passes) {
      inference->shared_passes = passes_.Of(InferenceOf(&form, trains, AnyPerturbation(), known, unknown, shifted));
    }
    return bytes;
  };
  test_bytes_ = infer(data.test_known(), data.test_unknown(), data.test_shifted(), &infer_, &keys_.infer);
  if (stem.fit != nullptr) {
    fit_bytes_ = infer(*stem.fit, No<UnknownGroup>(), No<ShiftedGroup>(), &fit_, &keys_.fit.emplace());
  }
}

ActionKeys::Keys ActionKeys::Of(const Trial& trial) {
  const Stem stem = StemOf(trial);
  if (!AreEqual(stem, stem_)) MakeStem(trial, stem);
  AsBytes form(this);
  Keys keys = keys_;
  keys.evaluate = evaluate_.Of(RecordOf(&form, trial, test_bytes_, stem.fit != nullptr ? &fit_bytes_ : nullptr));
  return keys;
}

std::vector<ActionKeys::Keys> ComputeKeys(const std::vector<Trial>& trials, size_t first, size_t count) {
  constexpr int64_t kRange = 1024;
  std::vector<ActionKeys::Keys> keys(count);
  InParallelRanges(static_cast<int64_t>(count), kRange, [&](int64_t begin, int64_t end) {
    std::vector<size_t> order(end - begin);
    std::iota(order.begin(), order.end(), first + begin);
    // Sorted by address, because no key depends on the order.
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const TrialData *of_a = trials[a].shared_data().get(), *of_b = trials[b].shared_data().get();
      return of_a != of_b ? std::less<>()(of_a, of_b) : trials[a].seed() < trials[b].seed();
    });
    ActionKeys of_range;
    for (const size_t t : order) keys[t - first] = of_range.Of(trials[t]);
  });
  return keys;
}

}  // namespace openset
