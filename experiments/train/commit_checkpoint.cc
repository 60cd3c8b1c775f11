#include "experiments/train/commit_checkpoint.h"

#include <string>

#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "experiments/worker/execution.h"
#include "models/checkpoint.h"

namespace openset {

absl::Status CommitCheckpoint(const Model& model, TrainSummary summary, const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const std::string staging, context.store.NewStagingFolder(context.key));
  const std::string checkpoint = JoinPath(staging, kCheckpointFile);
  OPENSET_RETURN_IF_ERROR(SaveTensors(StateOf(model), {{"key", context.key}}, checkpoint));
  OPENSET_ASSIGN_OR_RETURN(*summary.mutable_checkpoint_sha256(), Sha256HexOfFile(checkpoint));
  Provenance* provenance = summary.mutable_provenance();
  provenance->set_libtorch_version(LibTorchVersion());
  provenance->set_device(DescribeDevice(context.device));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kSummaryFile), EncodeRecord(summary)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(staging, kActionFile), ToText(summary.action())));
  return context.store.CommitFolder(staging, context.store.CheckpointFolder(context.key));
}

}  // namespace openset
