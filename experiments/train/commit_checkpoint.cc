#include "experiments/train/commit_checkpoint.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/closed_folder.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/folder_remover.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "experiments/store/components.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/execution.h"
#include "models/checkpoint.h"

namespace openset {

// Defined by :train_fingerprints.
extern const FingerprintRow openset_train_fingerprints[];

StageProvenance TrainProvenance(const TrainAction& action, const StageProvenance& earlier,
                                const ActionContext& context) {
  StageProvenance provenance = context.clock.Read(StageProvenance::TRAIN, context.key, context.store);
  DescribeExecution(action.execution(), context.device, &provenance);
  AddComponents(action, openset_train_fingerprints, &provenance);
  AddEarlierRuns(earlier, &provenance);
  return provenance;
}

absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context,
                              const std::string& state) {
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(context.key));
  const FolderRemover remover(staging);
  const std::string checkpoint = JoinPath(staging, kCheckpointFile);
  OPENSET_RETURN_IF_ERROR(SaveTensors(StateOf(model), {{"key", context.key}}, checkpoint));
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_checkpoint_sha256(), Sha256HexOfFile(checkpoint));
  summary.set_schema_version(kSchemaVersion);
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(summary)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kActionFile), ToText(summary.action())));
  if (!state.empty()) {
    OPENSET_RETURN_IF_ERROR(CheckNoLink(state));
    std::error_code error;
    std::filesystem::copy_file(state, JoinPath(staging, kStateFile), error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot copy ", state, ": ", error.message()));
  }
  return context.store.CommitFolder(staging, context.store.CheckpointFolder(context.key)).status();
}

}  // namespace openset
