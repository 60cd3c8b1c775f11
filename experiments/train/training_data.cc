#include "experiments/train/training_data.h"

#include "core/status_macros.h"
#include "data/selection.h"
#include "experiments/worker/input_pipeline.h"

namespace openset {

absl::StatusOr<std::unique_ptr<TrainingData>> TrainingData::Make(const TrainAction& action,
                                                                 const ActionContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSet> images, context.images->Get(action.data()));
  OPENSET_ASSIGN_OR_RETURN(const SelectedSamples samples, SelectSamples(*images, action.data()));
  OPENSET_ASSIGN_OR_RETURN(Batcher batcher, Batcher::Make(*images, samples, action.input().channels(), context.device));
  OPENSET_ASSIGN_OR_RETURN(Pipeline pipeline, TrainingPipelineWithViews(action, context.device));
  return std::unique_ptr<TrainingData>(new TrainingData(action, std::move(batcher), std::move(pipeline)));
}

TrainingData::TrainingData(const TrainAction& action, Batcher batcher, Pipeline pipeline)
    : batch_size_(action.training().batch_size()),
      drop_last_(action.training().drop_last()),
      batcher_(std::move(batcher)),
      pipeline_(std::move(pipeline)) {}

void TrainingData::StartPass(RandomStream* order, RandomStream* augment) {
  batches_ = batcher_.Epoch(batch_size_, drop_last_, order);
  next_ = 0;
  augment_ = augment;
}

absl::StatusOr<Batch> TrainingData::Next() { return batcher_.At(batches_[next_++], pipeline_, augment_); }

}  // namespace openset
