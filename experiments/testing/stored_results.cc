#include "experiments/testing/stored_results.h"

#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/logging.h"
#include "core/proto/proto_digest.h"
#include "experiments/store/records/input_trainings.h"

namespace openset {
namespace {

void Check(const absl::Status& status) { CHECK(status.ok()) << status; }

template <typename Summary>
void Commit(const std::string& staging, const ActionSpec& action, StageProvenance::Stage stage, const Store& store,
            Summary* summary) {
  *summary->mutable_action() = action;
  summary->mutable_provenance()->set_stage(stage);
  summary->mutable_provenance()->set_key(MessageDigest(action));
  Check(store.CommitResult(staging, *summary).status());
}

}  // namespace

std::string CommitMadeUpCheckpoint(const ActionSpec& action, const Store& store) {
  const std::string key = MessageDigest(action), staging = store.NewStagingFolder(key).value(), data(24, '\1');
  Safetensors content;
  content.arrays["weight"] = {ArrayType::kF32, {2, 3}, data};
  content.metadata["key"] = key;
  const std::string bytes = EncodeSafetensors(content).value();
  Check(WriteFileAtomically(JoinPath(staging, kCheckpointFile), bytes));
  TrainSummary summary;
  summary.add_epoch()->set_loss(0.5);
  Commit(staging, action, StageProvenance::TRAIN, store, &summary);
  return key;
}

std::string CommitMadeUpOutputs(const ActionSpec& action, const Outputs& outputs, const Store& store) {
  const std::string key = MessageDigest(action), staging = store.NewStagingFolder(key).value();
  Check(WriteOutputs(outputs, JoinPath(staging, kOutputsFile)));
  InferSummary summary;
  *summary.mutable_training() = LoadTrainings(action, store).value();
  Commit(staging, action, StageProvenance::INFER, store, &summary);
  return key;
}

}  // namespace openset
