// The actions of a trial, and their keys.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/files/digest.h"
#include "core/proto/proto_digest.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace openset {

// The kinds of actions, in the order in which a trial runs them.
enum class ActionKind {
  kTrain,
  kInfer,
  kEvaluate,
  kChoose,  // chooses among the candidates of a search, or of a rung; adds the tuned trial, or the next rung's trials
};

// A trial can have several actions of one kind. The role tells them apart.
enum class ActionRole {
  kMain,
  kPretraining,  // the training that the main one starts from
  kImport,       // a "training" that stores an imported model
  kFit,          // the inference whose outputs a score is fitted on
};

// An action of one trial, before the plan merges it with equal actions of other trials.
struct TrialAction {
  ActionKind kind;
  ActionRole role;
  int member;                          // kTrain: index in the ensemble
  absl::InlinedVector<int, 2> inputs;  // indices in the list of the trial's actions
  const ActionSpec* spec;
  Sha256::Digest key;  // of the spec
  // Inferences with the same value can share passes. Absent: the action runs alone.
  std::optional<Sha256::Digest> shared_passes;
};

// Makes the actions of trials. The specs share the trials' parts: don't change them, and don't use them after the
// trials or this object are gone.
class ActionMaker {
 public:
  // Inputs first; the evaluation, whose key is the trial's id, last. Precondition: the trial is resolved
  // (experiments/spec/resolve/expand.h).
  std::vector<TrialAction> ActionsOf(const Trial& trial);

 private:
  template <typename Spec>
  ActionSpec* NewTraining(const Trial& trial, const Spec& spec, uint64_t seed);
  void Add(ActionKind kind, ActionRole role, int member, absl::InlinedVector<int, 2> inputs, ActionSpec* spec,
           std::vector<TrialAction>* actions);
  void AddInference(const Trial& trial, bool is_fit, bool shares_passes, std::vector<TrialAction>* actions);

  google::protobuf::Arena arena_;
  MessageDigester digester_;
};

// The actions of the trials `first`, ..., `first + count - 1`, without their specs, on all CPUs.
std::vector<std::vector<TrialAction>> ActionsOfAll(const std::vector<Trial>& trials, size_t first, size_t count);

// Precondition of the following: the trial is resolved.
// A copy of the spec of one of the trial's actions. Precondition: the trial has it.
ActionSpec MakeAction(const Trial& trial, ActionKind kind, ActionRole role = ActionRole::kMain, int member = 0);
// The training of a member, or the import of its model.
ActionSpec MakeTraining(const Trial& trial, int member = 0);
// In hexadecimal.
std::string TrialId(const Trial& trial);
// The choice among these records.
ActionSpec ChoiceAmong(const std::vector<std::string>& trial_ids);

// The number of trainings that the method's inference needs: an ensemble's members, otherwise 1. Member m of a trial of
// seed s is the training of seed s * members + m.
int MembersOf(const MethodSpec& method);
// For fitted scores: the samples that the score is fitted to. They are the training samples or, for a fitted
// temperature, the validation samples if there are any.
const Selection& FitSelection(const Trial& trial);

// The samples of TrainingSpec.evaluate_every. A candidate of a search has no validation samples of its own: its test
// samples are the search's.
struct EpochSamples {
  const Selection& known;
  const google::protobuf::RepeatedPtrField<UnknownGroup>& unknown;
};
EpochSamples EpochSamplesOf(const Trial& trial);

// The keys of the inputs with this role, in order, and the only one; "" if there is none.
std::vector<std::string> InputKeys(const ActionSpec& action, ActionInput::Role role);
std::string InputKey(const ActionSpec& action, ActionInput::Role role);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
