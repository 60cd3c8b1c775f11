// The provenance of the inputs of an evaluation.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
#define OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_

#include "absl/status/status.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Adds the stages before the evaluation to the record's provenance, in the order given in record.proto, and the tensors
// that were left out when its trainings imported weights. `fit` is null unless the score is fitted. Errors: those of
// Store::LoadTrainSummary(), if a training has no checkpoint.
absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, const Store& store, TrialRecord* record);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
