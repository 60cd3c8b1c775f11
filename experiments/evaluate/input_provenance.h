// How the inputs of an evaluation came about.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
#define OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_

#include "absl/status/status.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Adds the stages before the evaluation to the record's provenance, in the order that record.proto says, and the
// tensors that its trainings' imports left out; `fit` is null unless the score is fitted. Errors: those of
// Store::LoadTrainSummary(), for a training whose checkpoint is not there.
absl::Status AddInputs(const InferSummary& test, const InferSummary* fit, const Store& store, TrialRecord* record);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
