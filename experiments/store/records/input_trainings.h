// The trainings behind outputs, for records.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"
#include "google/protobuf/repeated_ptr_field.h"

namespace openset {

// InferSummary.training of an inference, from the checkpoints of its networks. Errors: kNotFound if the store lacks a
// checkpoint; kDataLoss if one is corrupt, has another schema version or belongs to another action; kUnimplemented if a
// newer openset wrote it; a read failure (IsReadFailure() in experiments/store/store.h).
absl::StatusOr<google::protobuf::RepeatedPtrField<TrainSummary>> LoadTrainings(const ActionSpec& inference,
                                                                               const Store& store);

// Whether the summary has the trainings that its action names, and no others. Errors: kDataLoss.
absl::Status CheckTrainings(const InferSummary& summary);

// The training of the first network. Precondition: CheckTrainings().
const TrainSummary& FirstTraining(const InferSummary& summary);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_
