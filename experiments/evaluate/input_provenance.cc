#include "experiments/evaluate/input_provenance.h"

#include <string>

#include "absl/algorithm/container.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "experiments/spec/action.proto.h"

namespace openset {
namespace {

// Adds a training, preceded by the one that it starts from.
absl::Status AddTraining(const TrainAction& action, const Store& store, TrialRecord* record) {
  if (action.has_start()) OPENSET_RETURN_IF_ERROR(AddTraining(action.start(), store, record));
  OPENSET_ASSIGN_OR_RETURN(const TrainSummary summary, store.LoadTrainSummary(MessageDigest(action)));
  *record->mutable_provenance()->add_stage() = summary.provenance();
  for (const std::string& tensor : summary.ignored_tensor()) {
    if (!absl::c_linear_search(record->ignored_tensor(), tensor)) record->add_ignored_tensor(tensor);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, const Store& store, TrialRecord* record) {
  // The outputs for the fit come from the same trainings.
  for (const TrainAction& action : test.action().train()) {
    OPENSET_RETURN_IF_ERROR(AddTraining(action, store, record));
  }
  *record->mutable_provenance()->add_stage() = test.provenance();
  if (fit != nullptr) {
    StageProvenance* stage = record->mutable_provenance()->add_stage();
    *stage = fit->provenance();
    stage->set_stage(StageProvenance::FIT);
  }
  return absl::OkStatus();
}

}  // namespace openset
