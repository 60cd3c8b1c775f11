// What a training saves after each epoch, and resumes from.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "experiments/store/record.proto.h"

namespace openset {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Writes `tensors` and what is known of the epochs so far to a safetensors file, atomically. `key` is that of the
// action. Errors: kUnavailable.
absl::Status SaveTrainingState(const NamedTensors& tensors, const TrainSummary& summary, const std::string& key,
                               const std::string& path);

// Copies a saved state into `tensors`, on whatever device they are, and returns its summary.
// Errors: kNotFound if there is no file; kDataLoss or kInvalidArgument if it is damaged, of another action, or holds
// other tensors; `tensors` are then unchanged.
absl::StatusOr<TrainSummary> LoadTrainingState(const std::string& path, const std::string& key,
                                               const NamedTensors& tensors);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_STATE_H_
