// The batches of a training, pass by pass. The only code of the trainer that uses the batcher.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "data/pipeline.h"
#include "experiments/spec/action.proto.h"
#include "experiments/worker/action_context.h"

namespace openset {

// Its life: Make(), then UseOpenSet() for a training with one; then for each epoch StartEpoch(), which begins the first
// pass over the training samples, and StartPass() for each further pass; Next() until the pass has no batches left.
// ResumeEpoch() continues an epoch from its state between two batches.
class TrainingData {
 public:
  // Errors: those of the images and of the pipeline.
  static absl::StatusOr<std::unique_ptr<TrainingData>> Make(const TrainAction& action, const ActionContext& context);

  int64_t samples() const { return batcher_.size(); }
  int64_t batches_per_pass() const {
    return std::min(BatchesPerEpoch(batcher_.size(), batch_size_, drop_last_), most_batches_);
  }
  // Makes the open set's part of the batches of each epoch's first pass, and limits passes to MostSteps().
  // Precondition: between epochs; not null.
  void UseOpenSet(std::shared_ptr<OpenSetSource> source);

  // Orders, augmentations and open sets use streams that are named by the training's seed and the epoch's number, and
  // by nothing else: a pretraining and the training that follows it have the same seed, so that epoch e of both draws
  // the same.
  void StartEpoch(size_t epoch);
  // In a new order.
  void StartPass();
  // Call it instead of StartEpoch() for an epoch of which `batches` batches, of all passes so far, were returned and
  // `state` was state(). Does not read their images again. Errors: kInvalidArgument for an impossible state of the
  // source. Precondition: batches >= 0.
  absl::Status ResumeEpoch(size_t epoch, int64_t batches, const BatchStream::State& state);
  // The state after the last batch that Next() returned. Precondition: in an epoch.
  BatchStream::State state() const;
  // The number of batches of the pass that Next() has not returned yet.
  int64_t left() const { return left_; }
  // Errors: those of the data. Precondition: left() > 0.
  absl::StatusOr<Batch> Next();

 private:
  TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline);

  // Including the source's epoch.
  void StartStreams(size_t epoch);
  // Continues after its first batches.
  void StartPass(int64_t taken);
  bool DrawsOpenSet() const { return source_ != nullptr && pass_ == 0; }

  const uint64_t seed_;
  const int64_t batch_size_;
  const bool drop_last_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  int64_t most_batches_ = std::numeric_limits<int64_t>::max();
  std::shared_ptr<OpenSetSource> source_;               // may be null
  std::optional<RandomStream> order_, augment_, open_;  // of the epoch
  int64_t pass_ = 0;                                    // of the epoch
  int64_t left_ = 0;
  std::unique_ptr<BatchStream> stream_;  // of the pass; uses the members above
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
