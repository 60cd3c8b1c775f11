#include "experiments/evaluate/input_provenance.h"

#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/records/input_trainings.h"

namespace openset {

absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, const Store& store, TrialRecord* record) {
  // The outputs for the fit come from the same trainings.
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrainSummary> trainings, TrainingsOf(test, store));
  for (const TrainSummary& training : trainings) {
    *record->mutable_provenance()->add_stage() = training.provenance();
    for (const std::string& tensor : training.ignored_tensor()) {
      if (!absl::c_linear_search(record->ignored_tensor(), tensor)) record->add_ignored_tensor(tensor);
    }
    for (const std::string& note : training.import_note()) {
      if (!absl::c_linear_search(record->import_note(), note)) record->add_import_note(note);
    }
  }
  const TrainSummary& first = trainings[CountTrainingsOfFirstModel(test.action()) - 1];
  *record->mutable_epoch() = first.epoch();
  record->set_checkpoint_key(MessageDigest(test.action().train(0)));
  record->set_checkpoint_sha256(first.checkpoint_sha256());
  *record->mutable_provenance()->add_stage() = test.provenance();
  if (fit != nullptr) {
    StageProvenance* stage = record->mutable_provenance()->add_stage();
    *stage = fit->provenance();
    stage->set_stage(StageProvenance::FIT);
  }
  return absl::OkStatus();
}

}  // namespace openset
