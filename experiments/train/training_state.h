// What a training saves, from time to time and when it is asked to stop, and resumes from.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/store/record.proto.h"
#include "models/checkpoint.h"

namespace openset {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes `tensors` and the summary of the epochs so far to a safetensors file, atomically. `key` is that of the action.
// Errors: kUnavailable.
absl::Status SaveTrainingState(const NamedTensors& tensors, const TrainSummary& summary, const std::string& key,
                               const std::string& path);

struct SavedTraining {
  TrainSummary summary;
  TensorMap tensors;
};

// Errors: kNotFound if there is no file; kDataLoss or kInvalidArgument if it is corrupt or of another action.
absl::StatusOr<SavedTraining> LoadTrainingState(const std::string& path, const std::string& key);

// Whether `saved` has the names, shapes and dtypes of `tensors`. Errors: kInvalidArgument.
absl::Status CheckTensors(const TensorMap& saved, const NamedTensors& tensors);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_
