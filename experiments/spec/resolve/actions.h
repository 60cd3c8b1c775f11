// A trial -> the actions it is made of, and their keys.
#ifndef OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
#define OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/files/digest.h"
#include "core/proto/proto_digest.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.h"
#include "google/protobuf/message.h"

namespace openset {

// Precondition of all: the trial is resolved (experiments/spec/resolve/expand.h).
// How many trainings its inference needs: those of an ensemble's members, else 1.
int MembersOf(const MethodSpec& method);
// Precondition: 0 <= member < MembersOf(method).
TrainAction MakeTrainAction(const Trial& trial, int member = 0);
// On the test samples.
InferAction MakeInferAction(const Trial& trial);
// For scores that are fitted: on the training samples; for the temperature on the validation samples, if there are
// any.
InferAction MakeFitAction(const Trial& trial);
const Selection& FitSelection(const Trial& trial);
EvaluateAction MakeEvaluateAction(const Trial& trial);

// The digest that names a trial and its record: that of its EvaluateAction. Labels do not take part.
std::string TrialId(const Trial& trial);

// The keys of many trials' actions, without making the actions: the same as MessageDigest() of each. A part that trials
// share is looked at once.
// Precondition: the trials live as long as this object.
class ActionKeys {
 public:
  ActionKeys();

  using Key = Sha256::Digest;
  struct Inference {
    Key key;
    // The same for inferences that differ in the settings of their input perturbation only; none without one.
    std::optional<Key> shared_passes;
  };
  struct Keys {
    std::vector<Key> start;  // of each member, or none: the trainings that `train` start from
    std::vector<Key> train;  // of each member
    Inference infer;
    std::optional<Inference> fit;
    Key evaluate;
  };
  Keys Of(const Trial& trial);

  // The canonical bytes of a shared part.
  const std::string& BytesOf(const google::protobuf::Message& part);

 private:
  // What decides all actions of a trial but the last; of a score no more than what it is fitted to.
  struct Stem {
    const TrialData* data;
    const TrialProtocol* protocol;
    const Selection* fit;  // null: nothing
    int method;            // equal: all but the score is the same; -1: unlike any
    uint64_t seed;
  };
  static bool AreEqual(const Stem& a, const Stem& b);
  Stem StemOf(const Trial& trial);
  int NumberOf(const TrialMethod& method);
  void MakeStem(const Trial& trial, const Stem& stem);

  std::unordered_map<const google::protobuf::Message*, std::string> parts_;
  // One for each kind of key, as those of successive trials begin alike.
  CanonicalDigester start_, train_, infer_, fit_, passes_, evaluate_;
  std::unordered_map<const TrialMethod*, int> numbers_;
  std::unordered_map<std::string, int> methods_;  // by their canonical bytes without the score
  // Of the last trial: most scores of a study are computed from the same outputs.
  Stem stem_ = {nullptr, nullptr, nullptr, -1, 0};
  Keys keys_;  // without `evaluate`
  std::string test_bytes_, fit_bytes_;
};

// Those of the trials `first`, ..., `first + count - 1`, computed on all CPUs. Trials of the same data and seed are
// taken one after the other, wherever they stand: what their actions begin with is hashed once (CanonicalDigester).
std::vector<ActionKeys::Keys> ComputeKeys(const std::vector<Trial>& trials, size_t first, size_t count);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
