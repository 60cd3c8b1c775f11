#include "experiments/evaluate/input_provenance.h"

#include "core/proto/proto_digest.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Adds a training, the one it starts from before it.
absl::Status AddTraining(const TrainAction& action, const Store& store, Provenance* provenance) {
  if (action.has_start()) OPENSET_RETURN_IF_ERROR(AddTraining(action.start(), store, provenance));
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, store.LoadTrainSummary(MessageDigest(action)));
  *provenance->add_stage() = summary.provenance();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Provenance> InputProvenance(const InferSummary& test, const InferSummary* fit, const Store& store) {
  Provenance provenance;
  // The fit is of the same trainings.
  for (const TrainAction& action : test.action().train()) {
    OPENSET_RETURN_IF_ERROR(AddTraining(action, store, &provenance));
  }
  *provenance.add_stage() = test.provenance();
  if (fit != nullptr) {
    *provenance.add_stage() = fit->provenance();
    provenance.mutable_stage(provenance.stage_size() - 1)->set_stage(StageProvenance::FIT);
  }
  return provenance;
}

}  // namespace openset
