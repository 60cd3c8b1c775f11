#include "experiments/testing/stored_results.h"

#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/logging.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "experiments/store/records/input_trainings.h"

namespace openset {
namespace {

void Check(const absl::Status& status) { CHECK(status.ok()) << status; }

// Adds the other files that a stage writes, and moves all of them to their paths.
template <typename Summary>
void Commit(const std::string& staging, const std::string& folder, const ActionSpec& action,
            StageProvenance::Stage stage, const Store& store, Summary* summary) {
  summary->set_schema_version(kSchemaVersion);
  *summary->mutable_action() = action;
  summary->mutable_provenance()->set_stage(stage);
  summary->mutable_provenance()->set_key(MessageDigest(action));
  Check(WriteFileAtomically(JoinPath(staging, kActionFile), ToText(action)));
  Check(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(*summary)));
  Check(store.CommitFolder(staging, folder).status());
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
  summary.set_checkpoint_sha256(Sha256Hex(bytes));
  summary.add_epoch()->set_loss(0.5);
  Commit(staging, store.CheckpointFolder(key), action, StageProvenance::TRAIN, store, &summary);
  return key;
}

std::string CommitMadeUpOutputs(const ActionSpec& action, const Outputs& outputs, const Store& store) {
  const std::string key = MessageDigest(action), staging = store.NewStagingFolder(key).value(),
                    path = JoinPath(staging, kOutputsFile);
  Check(WriteOutputs(outputs, path));
  InferSummary summary;
  summary.set_outputs_sha256(Sha256HexOfFile(path).value());
  *summary.mutable_training() = LoadTrainings(action, store).value();
  Commit(staging, store.OutputsFolder(key), action, StageProvenance::INFER, store, &summary);
  return key;
}

}  // namespace openset
