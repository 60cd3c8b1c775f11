// The batches of a training, pass by pass. The trainer's only use of the batcher.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "data/pipeline.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_context.h"

namespace openset {

// Its life: Make(), then for each epoch StartEpoch(), which begins its first pass over the training samples, and
// StartPass() for each further one; Next() until none is left of a pass. ResumeEpoch() goes on with an epoch, from what
// was true of it between two batches.
class TrainingData {
 public:
  // Errors: those of the images and of the pipeline.
  static absl::StatusOr<std::unique_ptr<TrainingData>> Make(const TrainAction& action, const ActionContext& context);

  int64_t samples() const { return batcher_.size(); }
  int64_t batches_per_pass() const {
    return std::min(BatchesPerEpoch(batcher_.size(), batch_size_, drop_last_), most_batches_);
  }
  // From now on a pass ends after so many batches. Precondition: at least 1.
  void LimitBatches(int64_t most) { most_batches_ = most; }

  // Orders and augmentations are drawn from streams of the training's seed and the epoch's number.
  void StartEpoch(size_t epoch);
  // In a new order.
  void StartPass() { StartPass(/*taken=*/0); }
  // In the place of StartEpoch(), in an epoch of which `batches` were given, of its first pass and those after it, and
  // `augment` was augment_state(). What they held is not read again. Precondition: batches >= 0.
  void ResumeEpoch(size_t epoch, int64_t batches, const RandomStream::State& augment);
  // Where the stream of augmentations is after the batch that Next() gave last. Precondition: in an epoch.
  const RandomStream::State& augment_state() const { return stream_->random_state(); }
  // Batches of the pass that Next() has not given yet.
  int64_t left() const { return left_; }
  // Errors: those of the data. Precondition: left() > 0.
  absl::StatusOr<Batch> Next();

 private:
  TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline);

  void StartStreams(size_t epoch);
  // Behind its first batches.
  void StartPass(int64_t taken);

  const uint64_t seed_;
  const int64_t batch_size_;
  const bool drop_last_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  int64_t most_batches_ = std::numeric_limits<int64_t>::max();
  std::optional<RandomStream> order_, augment_;  // of the epoch
  int64_t left_ = 0;
  std::unique_ptr<BatchStream> stream_;  // of the pass; reads what is above it
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
