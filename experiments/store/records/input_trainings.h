// The trainings behind outputs, for records.
#ifndef OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_
#define OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// The number of trainings up to the first model's own, including those that it starts from.
size_t CountTrainingsOfFirstModel(const InferAction& action);

// InferSummary.training of an inference, from the checkpoints of its models. Errors: those of
// Store::LoadTrainSummary().
absl::StatusOr<std::vector<TrainSummary>> LoadTrainings(const InferAction& action, const Store& store);

// The same from the summary of stored outputs, or from the checkpoints if it lacks them. Errors: in addition,
// kDataLoss if it has another number of trainings than its action.
absl::StatusOr<std::vector<TrainSummary>> TrainingsOf(const InferSummary& summary, const Store& store);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_RECORDS_INPUT_TRAININGS_H_
