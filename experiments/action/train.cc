// Trains a network, or uses an imported one as it is. The result is a checkpoint.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "data/selection.h"
#include "experiments/action/stage.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/method/training_epochs.h"
#include "experiments/spec/model_files.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/resolve/actions.h"

namespace openset {
namespace {

// Images that pass through the model for a training sample of an epoch: one or more in each pass, and additional ones.
int64_t ImagesPerSample(const OpenSetSpec& open_set, int views) {
  return std::llround(1 + views + open_set.plain_passes() + TraitsOf(open_set).more_images());
}

// `Spec` is MethodSpec or PretrainingSpec.
template <typename Spec>
int64_t WorkOf(const Spec& spec, int views, const Trial& trial, const SampleCounter& count_samples) {
  const TrainingSpec& training = spec.training();
  int64_t images = count_samples(trial.data().train()) * EpochsOf(training);
  const int64_t limit = training.max_steps() * training.batch_size();
  if (limit > 0) images = std::min(images, limit);
  const int64_t passes = kTrainPasses * (training.optimizer().has_sam() ? 2 : 1);
  const bool averages = training.has_swa() && !IsStoppedEarly(training);  // and measures batch norms in one more pass
  const int64_t work =
      passes * images * ImagesPerSample(spec.open_set(), views) + (averages ? count_samples(trial.data().train()) : 0);
  if (!training.has_evaluate_every()) return work;
  const EpochSamples samples = EpochSamplesOf(trial);
  int64_t measured = count_samples(samples.known);
  for (const UnknownGroup& group : samples.unknown) measured += count_samples(group.selection());
  // Measured after every N epochs, and after the last one of the schedule.
  const int epochs = EpochsOf(training), every = training.evaluate_every().epochs();
  const bool also_at_end = epochs % every != 0 && !IsStoppedEarly(training);
  return work + measured * (epochs / every + (also_at_end ? 1 : 0));
}

class Train : public Stage {
 public:
  const char* Verb(ActionRole role) const override { return role == ActionRole::kImport ? "import" : "train"; }
  const char* PastTense(ActionRole role) const override {
    return role == ActionRole::kImport ? "imported " : "trained  ";
  }
  const char* Noun(ActionRole role) const override { return role == ActionRole::kImport ? "import" : "training"; }
  bool RunsModel() const override { return true; }

  int64_t Work(const Action& action, const Trial& trial, const SampleCounter& count_samples) const override {
    const MethodSpec& method = trial.method();
    // No pass of one of our networks.
    if (UsesArraysOnly(method.model()) || method.training().has_command()) return 0;
    if (action.role == ActionRole::kPretraining) return WorkOf(method.pretraining(), 0, trial, count_samples);
    return WorkOf(method, method.has_views() ? method.views().count() : 0, trial, count_samples);
  }

  void AddReads(const Action& action, const Trial& trial, ActionReads* reads) const override {
    const MethodSpec& method = trial.method();
    const bool is_first = action.role == ActionRole::kPretraining;
    // Importing a trained model reads no images.
    if (action.role != ActionRole::kImport) reads->selections.insert(&trial.data().train());
    const OpenSetSpec& open_set = is_first ? method.pretraining().open_set() : method.open_set();
    if (TraitsOf(open_set).external_images()) reads->selections.insert(&trial.data().external());
    if (!is_first && method.training().has_evaluate_every()) {
      const EpochSamples samples = EpochSamplesOf(trial);
      reads->selections.insert(&samples.known);
      for (const UnknownGroup& group : samples.unknown) reads->selections.insert(&group.selection());
    }
    reads->models.insert(&method.model());
    if (!method.training().has_command() || !method.model().has_outputs()) return;
    const TaskData& data = trial.data();
    for (const Selection* selection : TestSelections(data)) reads->selections.insert(selection);
    if (data.has_validation_known()) reads->selections.insert(&data.validation_known());
    for (const UnknownGroup& group : data.validation_unknown()) reads->selections.insert(&group.selection());
  }

  Demand Needs(const Trial& trial, const ActionMemory& memory) const override {
    const bool is_light = UsesArraysOnly(trial.method().model()) && !trial.method().training().has_command();
    if (is_light) return {.cpu_threads = 1, .memory_mb = memory.evaluate_mb()};
    return NeedsOfPasses(trial, memory.train_mb());
  }
  bool SavesState() const override { return true; }

  std::string ResultPath(const Store& store, const std::string& key) const override {
    return store.CheckpointFolder(key);
  }
  absl::StatusOr<bool> IsInStore(const Store& store, const std::string& key) const override {
    return store.HasCheckpoint(key);
  }
  absl::Status Check(const Store& store, const std::string& key) const override { return store.CheckCheckpoint(key); }
  absl::StatusOr<Provenance> LoadProvenance(const Store& store, const std::string& key) const override {
    OPENSET_ASSIGN_OR_RETURN(TrainSummary summary, store.LoadTrainSummary(key));
    Provenance provenance;
    *provenance.add_stage() = std::move(*summary.mutable_provenance());
    return provenance;
  }
};

}  // namespace

const Stage& TrainStage() {
  static const Train* const stage = new Train;
  return *stage;
}

}  // namespace openset
