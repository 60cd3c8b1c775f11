#include "experiments/train/checkpoint.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/remove_tree.h"
#include "core/files/system_calls.h"
#include "core/proto/text_proto.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/components.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/execution.h"
#include "experiments/worker/trained_model.h"
#include "models/checkpoint.h"
#include "models/make_model.h"

namespace openset {

// Defined by :train_fingerprints.
extern const FingerprintRow openset_train_fingerprints[];

ActionSpec SpecOf(const TrainAction& action, const ActionContext& context) {
  ActionSpec spec;
  *spec.mutable_input() = context.inputs;
  *spec.mutable_train() = action;
  return spec;
}

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
  OPENSET_RETURN_IF_ERROR(SaveTensors(StateOf(model), {{"key", context.key}}, JoinPath(staging, kCheckpointFile)));
  if (!state.empty()) {
    OPENSET_RETURN_IF_ERROR(CheckNoLink(state));
    std::error_code error;
    std::filesystem::copy_file(state, JoinPath(staging, kStateFile), error);
    if (error) return absl::UnavailableError(absl::StrCat("cannot copy ", state, ": ", error.message()));
  }
  return context.store.CommitResult(staging, std::move(summary)).status();
}

absl::StatusOr<std::shared_ptr<Model>> MakeInitialModel(const TrainAction& action, const ActionContext& context,
                                                        ImportNotes* notes) {
  const std::string start = InputKey(SpecOf(action, context), ActionInput::START);
  if (!start.empty()) return LoadTrainedModel(start, context);
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

namespace {

// Commits the initial model of `initial` as the checkpoint of `action`.
absl::Status CommitModelOf(const TrainAction& initial, const TrainAction& action,
                           const std::vector<EpochSummary>& epochs, const ActionContext& context) {
  ImportNotes notes;
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, MakeInitialModel(initial, context, &notes));
  TrainSummary summary;
  summary.mutable_ignored_tensor()->Assign(notes.ignored.begin(), notes.ignored.end());
  summary.mutable_import_note()->Assign(notes.lines.begin(), notes.lines.end());
  summary.mutable_epoch()->Assign(epochs.begin(), epochs.end());
  *summary.mutable_action() = SpecOf(action, context);
  *summary.mutable_provenance() = TrainProvenance(action, /*earlier=*/{}, context);
  return CommitCheckpoint(*model, std::move(summary), context);
}

}  // namespace

absl::Status CommitInitialModel(const TrainAction& action, const ActionContext& context) {
  return CommitModelOf(action, action, {}, context);
}

absl::Status CommitWeights(const TrainAction& action, const std::string& weights,
                           const std::vector<EpochSummary>& epochs, const ActionContext& context) {
  TrainAction initial = action;
  WeightsSpec* spec = initial.mutable_model()->mutable_weights();
  spec->set_file(weights);
  OPENSET_ASSIGN_OR_RETURN(*spec->mutable_sha256(), Sha256HexOfFile(weights));
  FillDefaults(spec);
  return CommitModelOf(initial, action, epochs, context);
}

}  // namespace openset
