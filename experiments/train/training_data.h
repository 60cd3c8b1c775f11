// The batches of a training, pass by pass. The only code of the trainer that uses the batcher.
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

// Its life: Make(), then for each epoch StartEpoch(), which begins the first pass over the training samples, and
// StartPass() for each further pass; Next() until the pass has no batches left. ResumeEpoch() continues an epoch from
// its state between two batches.
class TrainingData {
 public:
  // Errors: those of the images and of the pipeline.
  static absl::StatusOr<std::unique_ptr<TrainingData>> Make(const TrainAction& action, const ActionContext& context);

  int64_t samples() const { return batcher_.size(); }
  int64_t batches_per_pass() const {
    return std::min(BatchesPerEpoch(batcher_.size(), batch_size_, drop_last_), most_batches_);
  }
  // Limits passes from now on to this number of batches. Precondition: at least 1.
  void LimitBatches(int64_t most) { most_batches_ = most; }

  // Orders and augmentations use streams that are named by the training's seed and the epoch's number.
  void StartEpoch(size_t epoch);
  // In a new order.
  void StartPass() { StartPass(/*taken=*/0); }
  // Call it instead of StartEpoch() for an epoch of which `batches` batches, of all passes so far, were returned and
  // `augment` was augment_state(). Does not read their images again. Precondition: batches >= 0.
  void ResumeEpoch(size_t epoch, int64_t batches, const RandomStream::State& augment);
  // The state of the stream of augmentations after the last batch that Next() returned. Precondition: in an epoch.
  const RandomStream::State& augment_state() const { return stream_->random_state(); }
  // The number of batches of the pass that Next() has not returned yet.
  int64_t left() const { return left_; }
  // Errors: those of the data. Precondition: left() > 0.
  absl::StatusOr<Batch> Next();

 private:
  TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline);

  void StartStreams(size_t epoch);
  // Continues after its first batches.
  void StartPass(int64_t taken);

  const uint64_t seed_;
  const int64_t batch_size_;
  const bool drop_last_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  int64_t most_batches_ = std::numeric_limits<int64_t>::max();
  std::optional<RandomStream> order_, augment_;  // of the epoch
  int64_t left_ = 0;
  std::unique_ptr<BatchStream> stream_;  // of the pass; uses the members above
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
