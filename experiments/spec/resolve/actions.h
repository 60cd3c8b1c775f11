// The actions of a trial, and their keys.
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
#include "google/protobuf/repeated_ptr_field.h"

namespace openset {

// Precondition of all: the trial is resolved (experiments/spec/resolve/expand.h).
// The number of trainings that its inference needs: that of an ensemble's members, otherwise 1.
int MembersOf(const MethodSpec& method);
// Precondition: 0 <= member < MembersOf(method).
TrainAction MakeTrainAction(const Trial& trial, int member = 0);
// The inference on the test samples.
InferAction MakeInferAction(const Trial& trial);
// For fitted scores: the inference on the training samples or, for a fitted temperature, on the validation samples if
// there are any.
InferAction MakeFitAction(const Trial& trial);
const Selection& FitSelection(const Trial& trial);
EvaluateAction MakeEvaluateAction(const Trial& trial);

// The samples of TrainingSpec.evaluate_every. A candidate of a search has no validation samples of its own: its test
// samples are those of the search.
struct EpochSamples {
  const Selection& known;
  const google::protobuf::RepeatedPtrField<UnknownGroup>& unknown;
};
EpochSamples EpochSamplesOf(const Trial& trial);

// The digest that identifies a trial and its record: that of its EvaluateAction. Labels are not part of it.
std::string TrialId(const Trial& trial);

// Computes the keys of many trials' actions without making the actions. They equal MessageDigest() of each. A part that
// trials share is read only once.
// Precondition: the trials live as long as this object.
class ActionKeys {
 public:
  ActionKeys();

  using Key = Sha256::Digest;
  struct Inference {
    Key key;
    // The same for inferences that differ only in the settings of their input perturbation; none without one.
    std::optional<Key> shared_passes;
  };
  struct Keys {
    std::vector<Key> start;  // the trainings that those in `train` start from, for each member; or empty
    std::vector<Key> train;  // of each member
    Inference infer;
    std::optional<Inference> fit;
    Key evaluate;
  };
  Keys Of(const Trial& trial);

  // The canonical bytes of a shared part.
  const std::string& BytesOf(const google::protobuf::Message& part);

 private:
  // What determines all actions of a trial except the last. Of a score, only what it is fitted to.
  struct Stem {
    const TrialData* data;
    const TrialProtocol* protocol;
    const Selection* fit;  // null: nothing
    int method;            // equal if only the score differs; -1: differs from all others
    uint64_t seed;
  };
  static bool AreEqual(const Stem& a, const Stem& b);
  Stem StemOf(const Trial& trial);
  int NumberOf(const TrialMethod& method);
  void MakeStem(const Trial& trial, const Stem& stem);

  std::unordered_map<const google::protobuf::Message*, std::string> parts_;
  // One for each kind of key, because the messages of successive trials start with the same bytes.
  CanonicalDigester start_, train_, infer_, fit_, passes_, evaluate_;
  std::unordered_map<const TrialMethod*, int> numbers_;
  std::unordered_map<std::string, int> methods_;  // by their canonical bytes without the score
  // Those of the last trial, because most scores of a study are computed from the same outputs.
  Stem stem_ = {nullptr, nullptr, nullptr, -1, 0};
  Keys keys_;  // without `evaluate`
  std::string test_bytes_, fit_bytes_;
};

// Computes the keys of the trials `first`, ..., `first + count - 1` on all CPUs. It processes trials of the same data
// and seed one after the other, so that the common beginning of their actions is hashed once (CanonicalDigester).
std::vector<ActionKeys::Keys> ComputeKeys(const std::vector<Trial>& trials, size_t first, size_t count);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_SPEC_RESOLVE_ACTIONS_H_
