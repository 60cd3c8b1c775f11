// Computes the actions of a trial, and their keys.
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

// Precondition of all functions: the trial is resolved (experiments/spec/resolve/expand.h). Returns the number of
// trainings that its inference needs: the number of members of an ensemble, otherwise 1.
int MembersOf(const MethodSpec& method);
// Precondition: 0 <= member < MembersOf(method).
TrainAction MakeTrainAction(const Trial& trial, int member = 0);
// The inference on the test samples.
InferAction MakeInferAction(const Trial& trial);
// For fitted scores, the inference whose outputs the score is fitted to: on the training samples; for the temperature
// score, on the validation samples if there are any.
InferAction MakeFitAction(const Trial& trial);
const Selection& FitSelection(const Trial& trial);
EvaluateAction MakeEvaluateAction(const Trial& trial);

// Returns the id of a trial and its record: the digest of its EvaluateAction. Labels are not part of it.
std::string TrialId(const Trial& trial);

// Computes the keys of many trials' actions without making the actions. Each key equals MessageDigest() of the action.
// A part that trials share is processed once. Precondition: the trials outlive this object.
class ActionKeys {
 public:
  ActionKeys();

  using Key = Sha256::Digest;
  struct Inference {
    Key key;
    // Equal for inferences that differ only in the settings of their input perturbation; absent for other inferences.
    std::optional<Key> shared_passes;
  };
  struct Keys {
    std::vector<Key> start;  // of each member: the training that its `train` starts from; empty if there are none
    std::vector<Key> train;  // of each member
    Inference infer;
    std::optional<Inference> fit;
    Key evaluate;
  };
  Keys Of(const Trial& trial);

  // The canonical bytes of a shared part.
  const std::string& BytesOf(const google::protobuf::Message& part);

 private:
  // What determines all actions of a trial except the last. Of the score, it has only the samples that it is fitted to.
  struct Stem {
    const TrialData* data;
    const TrialProtocol* protocol;
    const Selection* fit;  // null: nothing
    int method;            // equal if everything but the score is the same; -1: not equal to any
    uint64_t seed;
  };
  static bool AreEqual(const Stem& a, const Stem& b);
  Stem StemOf(const Trial& trial);
  int NumberOf(const TrialMethod& method);
  void MakeStem(const Trial& trial, const Stem& stem);

  std::unordered_map<const google::protobuf::Message*, std::string> parts_;
  // One for each kind of key, because the bytes of successive trials have a common prefix.
  CanonicalDigester start_, train_, infer_, fit_, passes_, evaluate_;
  std::unordered_map<const TrialMethod*, int> numbers_;
  std::unordered_map<std::string, int> methods_;  // by their canonical bytes without the score
  // Those of the last trial, because most scores of a study are computed from the same outputs.
  Stem stem_ = {nullptr, nullptr, nullptr, -1, 0};
  Keys keys_;  // without `evaluate`
  std::string test_bytes_, fit_bytes_;
};

// Returns the keys of the trials `first`, ..., `first + count - 1`, computed on all CPUs. Trials with the same data and
// seed are processed one after the other, wherever they are in the list, so that the common prefix of their actions is
// hashed once (CanonicalDigester).
std::vector<ActionKeys::Keys> ComputeKeys(const std::vector<Trial>& trials, size_t first, size_t count);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
