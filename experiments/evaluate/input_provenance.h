// The provenance of the inputs of an evaluation.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
#define OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_

#include "absl/status/status.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Adds the stages before the evaluation to the record's provenance, in the order given in record.proto, the tensors
// that were left out when its trainings imported weights, and the first model's epochs and checkpoint. `fit` is null
// unless the score is fitted. Needs no checkpoint, except for outputs of earlier versions. Errors: those of
// TrainingsOf() (experiments/store/records/input_trainings.h). Precondition: `test` has the action of its outputs.
absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, const Store& store, TrialRecord* record);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
