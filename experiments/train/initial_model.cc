#include "experiments/train/initial_model.h"

#include "core/random.h"
#include "core/status_macros.h"
#include "experiments/spec/model_files.h"
#include "experiments/train/commit_checkpoint.h"
#include "experiments/worker/trained_model.h"
#include "models/make_model.h"

namespace openset {

absl::StatusOr<std::shared_ptr<Model>> MakeInitialModel(const TrainAction& action, const ActionContext& context,
                                                        ImportNotes* notes) {
  if (action.has_start()) return LoadTrainedModel(action.start(), context);
  RandomStream init(action.seed(), "init");
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Model> model,
                           MakeModel(action.model(), action.input(), action.data().class_id_size(), &init,
                                     {context.device, action.has_training()}));
  if (action.model().has_weights()) {
    WeightsSpec weights = action.model().weights();
    OPENSET_ASSIGN_OR_RETURN(*weights.mutable_file(), FindModelFile(weights.file(), context.images->data_folders()));
    OPENSET_RETURN_IF_ERROR(ImportWeights(weights, model.get(), notes));
  }
  PlaceModel(action.execution(), context.device, model.get());
  return model;
}

absl::Status CommitInitialModel(const TrainAction& action, const ActionContext& context) {
  ImportNotes notes;
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, MakeInitialModel(action, context, &notes));
  TrainSummary summary;
  summary.mutable_ignored_tensor()->Assign(notes.ignored.begin(), notes.ignored.end());
  summary.mutable_import_note()->Assign(notes.lines.begin(), notes.lines.end());
  *summary.mutable_action() = action;
  *summary.mutable_provenance() = TrainProvenance(action, /*earlier=*/{}, context);
  return CommitCheckpoint(*model, std::move(summary), context);
}

}  // namespace openset
