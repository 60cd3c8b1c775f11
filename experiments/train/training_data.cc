#include "experiments/train/training_data.h"

#include <optional>
#include <vector>

#include "core/status_macros.h"
#include "experiments/worker/input_pipeline.h"

namespace openset {

absl::StatusOr<std::unique_ptr<TrainingData>> TrainingData::Make(const TrainAction& action,
                                                                 const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(Batcher batcher,
                           context.images->MakeBatcher(action.data(), action.input().channels(), context.device));
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipelineWithViews(action, context.device));
  return std::unique_ptr<TrainingData>(new TrainingData(action, std::move(batcher), std::move(pipeline)));
}

TrainingData::TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline)
    : batch_size_(action.training().batch_size()),
      drop_last_(action.training().drop_last()),
      batcher_(std::move(batcher)),
      pipeline_(std::move(pipeline)) {}

void TrainingData::StartPass(RandomStream* order, RandomStream* augment) {
  stream_.reset();  // it draws from the random numbers of its pass
  std::vector<at::Tensor> batches = batcher_.Epoch(batch_size_, drop_last_, order);
  left_ = static_cast<int64_t>(batches.size());
  stream_ = std::make_unique<BatchStream>(batcher_, std::move(batches), pipeline_, augment);
}

absl::StatusOr<Batch> TrainingData::Next() {
  OPENSET_ASSIGN_OR_RETURN(std::optional<Batch> batch, stream_->Next());
  --left_;
  return *std::move(batch);
}

}  // namespace openset
