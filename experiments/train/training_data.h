// The batches of a training, pass by pass. The trainer's only use of the batcher.
#ifndef OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
#define OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "data/batcher.h"
#include "data/pipeline.h"
#include "experiments/spec/action.pb.h"
#include "experiments/worker/action_context.h"

namespace openset {

// Its life: Make(), then for each pass over the training samples StartPass() and Next() until none is left.
class TrainingData {
 public:
  // Errors: those of the images and of the pipeline.
  static absl::StatusOr<std::unique_ptr<TrainingData>> Make(const TrainAction& action, const ActionContext& context);

  int64_t samples() const { return batcher_.size(); }
  int64_t batches_per_pass() const { return BatchesPerEpoch(batcher_.size(), batch_size_, drop_last_); }

  // A new order, drawn from `order`; the images of its batches are augmented with numbers from `augment`, which belongs
  // to the pass until its last batch.
  void StartPass(RandomStream* order, RandomStream* augment);
  // Batches of the pass that Next() has not given yet.
  int64_t left() const { return static_cast<int64_t>(batches_.size()) - next_; }
  // Errors: those of the data. Precondition: left() > 0.
  absl::StatusOr<Batch> Next();

 private:
  TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline);

  const int64_t batch_size_;
  const bool drop_last_;
  const Batcher batcher_;
  const Pipeline pipeline_;
  std::vector<at::Tensor> batches_;  // of the pass: the samples of each
  int64_t next_ = 0;
  RandomStream* augment_ = nullptr;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_TRAINING_DATA_H_
