#include "experiments/train/training_data.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
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
    : seed_(action.seed()),
      batch_size_(action.training().batch_size()),
      drop_last_(action.training().drop_last()),
      batcher_(std::move(batcher)),
      pipeline_(std::move(pipeline)) {}

void TrainingData::StartStreams(size_t epoch) {
  stream_.reset();
  order_.emplace(seed_, absl::StrCat("order/epoch ", epoch));
  augment_.emplace(seed_, absl::StrCat("augment/epoch ", epoch));
}

void TrainingData::StartEpoch(size_t epoch) {
  StartStreams(epoch);
  StartPass();
}

void TrainingData::ResumeEpoch(size_t epoch, int64_t batches, const RandomStream::State& augment) {
  StartStreams(epoch);
  augment_->set_state(augment);
  const int64_t passes = batches / batches_per_pass();
  for (int64_t pass = 0; pass < passes; ++pass) batcher_.Epoch(batch_size_, drop_last_, &*order_);
  StartPass(batches % batches_per_pass());
}

void TrainingData::StartPass(int64_t taken) {
  stream_.reset();
  std::vector<at::Tensor> batches = batcher_.Epoch(batch_size_, drop_last_, &*order_);
  batches.resize(batches_per_pass());
  batches.erase(batches.begin(), batches.begin() + taken);
  left_ = static_cast<int64_t>(batches.size());
  stream_ = std::make_unique<BatchStream>(batcher_, std::move(batches), pipeline_, &*augment_);
}

absl::StatusOr<Batch> TrainingData::Next() {
  OPENSET_ASSIGN_OR_RETURN(std::optional<Batch> batch, stream_->Next());
  --left_;
  return *std::move(batch);
}

}  // namespace openset
