#include "experiments/worker/trained_model.h"

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/header_check.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "experiments/worker/execution.h"
#include "models/checkpoint.h"
#include "models/make_model.h"

namespace openset {

void PlaceModel(const ExecutionSpec& execution, at::Device device, Model* model) {
  model->to(device);
  if (ImageLayout(execution, device) == at::MemoryFormat::ChannelsLast) return;  // as models are made
  for (at::Tensor& weight : model->parameters()) {
    // A copy also for one input channel, whose weight has both layouts; convolutions would take it for channels-last.
    if (weight.dim() == 4) weight.set_data(weight.detach().clone(at::MemoryFormat::Contiguous));
  }
}

absl::StatusOr<std::shared_ptr<Model>> LoadTrainedModel(const std::string& key, const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, context.store.LoadTrainSummary(key));
  const std::string path = JoinPath(context.store.CheckpointFolder(key), kCheckpointFile);
  OPENSET_RETURN_IF_ERROR(CheckSafetensorsHeader(path));
  OPENSET_ASSIGN_OR_RETURN(const std::string sha256, Sha256HexOfFile(path));
  if (sha256 != summary.checkpoint_sha256()) {
    return absl::DataLossError(absl::StrCat(path, " does not match its checksum; the next run trains it again"));
  }
  OPENSET_ASSIGN_OR_RETURN(const TensorMap state, LoadTensors(path));
  const TrainAction& action = summary.action().train();
  RandomStream unused(0, "init");
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                           MakeModel(action.model(), action.input(), action.data().class_id_size(), &unused,
                                     {context.device, /*is_training=*/false}));
  OPENSET_RETURN_IF_ERROR(Annotate(SetState(state, model.get()), path));
  PlaceModel(action.execution(), context.device, model.get());
  return model;
}

}  // namespace openset
