// Passes images through the trained networks of a trial. The result is stored outputs.
#include <utility>

#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "data/selection.h"
#include "experiments/action/stage.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/model_files.h"
#include "models/model.pb.h"

namespace openset {
namespace {

class Infer : public Stage {
 public:
  const char* Verb(ActionRole /*role*/) const override { return "infer"; }
  const char* PastTense(ActionRole /*role*/) const override { return "inferred "; }
  const char* Noun(ActionRole /*role*/) const override { return "inference"; }
  bool RunsModel() const override { return true; }

  int64_t Work(const Action& action, const Trial& trial, const SampleCounter& count_samples) const override {
    if (UsesArraysOnly(trial.method().model())) return 0;  // no pass of one of our networks
    const Traits inference = TraitsOf(trial.method().inference());
    int64_t work = 0;
    ForEachSelection(action, trial, [&](const Selection& selection) { work += count_samples(selection); });
    work *= static_cast<int64_t>(action.inputs.size()) * inference.passes();
    if (inference.reads_training_images()) work += count_samples(trial.data().train());
    return work;
  }

  // A passenger adds a pass for its own image.
  int64_t WorkAsPassenger(const Trial& trial, int64_t work) const override {
    return work / TraitsOf(trial.method().inference()).passes();
  }

  void AddReads(const Action& action, const Trial& trial, ActionReads* reads) const override {
    // Weights are in the checkpoint; a script and outputs are read from their files.
    if (trial.method().model().has_outputs()) {
      reads->models.insert(&trial.method().model());
      return;  // images are compared with the labels if they are here
    }
    if (trial.method().model().has_torch_script()) reads->models.insert(&trial.method().model());
    ForEachSelection(action, trial, [&](const Selection& selection) { reads->selections.insert(&selection); });
    if (TraitsOf(trial.method().inference()).reads_training_images()) reads->selections.insert(&trial.data().train());
  }

  Demand Needs(const Trial& trial, const ActionMemory& memory) const override {
    if (UsesArraysOnly(trial.method().model())) return {.cpu_threads = 1, .memory_mb = memory.evaluate_mb()};
    return NeedsOfPasses(trial, memory.infer_mb());
  }
  bool CanUseMoreCpus(int threads) const override { return threads == 1; }

  std::string ResultPath(const Store& store, const std::string& key) const override { return store.OutputsFolder(key); }
  absl::StatusOr<bool> IsInStore(const Store& store, const std::string& key) const override {
    return store.HasOutputs(key);
  }
  absl::Status Check(const Store& store, const std::string& key) const override { return store.CheckOutputs(key); }
  absl::StatusOr<Provenance> LoadProvenance(const Store& store, const std::string& key) const override {
    OPENSET_ASSIGN_OR_RETURN(InferSummary summary, store.LoadInferSummary(key));
    Provenance provenance;
    *provenance.add_stage() = std::move(*summary.mutable_provenance());
    return provenance;
  }

 private:
  template <typename Use>
  static void ForEachSelection(const Action& action, const Trial& trial, const Use& use) {
    if (action.role == ActionRole::kFit) return use(FitSelection(trial));
    for (const Selection* selection : TestSelections(trial.data())) use(*selection);
  }
};

}  // namespace

const Stage& InferStage() {
  static const Infer* const stage = new Infer;
  return *stage;
}

}  // namespace openset
