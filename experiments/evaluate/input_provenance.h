// How the inputs of an evaluation came about.
#ifndef OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
#define OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_

#include "absl/status/statusor.h"
#include "experiments/store/record.pb.h"
#include "experiments/store/store.h"

namespace openset {

// The stages before the evaluation, in the order that record.proto says; `fit` is null unless the score is fitted.
// Errors: those of Store::LoadTrainSummary(), for a training whose checkpoint is not there.
absl::StatusOr<Provenance> InputProvenance(const InferSummary& test, const InferSummary* fit, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_EVALUATE_INPUT_PROVENANCE_H_
