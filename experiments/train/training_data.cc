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

void TrainingData::UseOpenSet(std::shared_ptr<OpenSetSource> source) {
  source_ = std::move(source);
  most_batches_ = source_->MostSteps(batch_size_);
}

void TrainingData::StartStreams(size_t epoch) {
  stream_.reset();
  pass_ = 0;
  order_.emplace(seed_, absl::StrCat("order/epoch ", epoch));
  augment_.emplace(seed_, absl::StrCat("augment/epoch ", epoch));
  open_.emplace(seed_, absl::StrCat("open_set/epoch ", epoch));
  if (source_ != nullptr) source_->StartEpoch(&*open_);
}

void TrainingData::StartEpoch(size_t epoch) {
  StartStreams(epoch);
  StartPass(/*taken=*/0);
}

void TrainingData::StartPass() {
  ++pass_;
  StartPass(/*taken=*/0);
}

absl::Status TrainingData::ResumeEpoch(size_t epoch, int64_t batches, const BatchStream::State& state) {
  StartStreams(epoch);
  augment_->set_state(state.augment);
  open_->set_state(state.open);
  if (source_ != nullptr) OPENSET_RETURN_IF_ERROR(source_->ResumeEpoch(state.source));
  pass_ = batches / batches_per_pass();
  for (int64_t pass = 0; pass < pass_; ++pass) batcher_.Epoch(batch_size_, drop_last_, &*order_);
  StartPass(batches % batches_per_pass());
  return absl::OkStatus();
}

BatchStream::State TrainingData::state() const {
  BatchStream::State state = stream_->state();
  if (DrawsOpenSet()) return state;
  state.open = open_->state();
  if (source_ != nullptr) state.source = source_->EpochState();
  return state;
}

void TrainingData::StartPass(int64_t taken) {
  stream_.reset();
  std::vector<at::Tensor> batches = batcher_.Epoch(batch_size_, drop_last_, &*order_);
  batches.resize(batches_per_pass());
  batches.erase(batches.begin(), batches.begin() + taken);
  left_ = static_cast<int64_t>(batches.size());
  stream_ = std::make_unique<BatchStream>(batcher_, std::move(batches), pipeline_, &*augment_,
                                          DrawsOpenSet() ? OpenSetDrawing{source_.get(), &*open_} : OpenSetDrawing{});
}

absl::StatusOr<Batch> TrainingData::Next() {
  OPENSET_ASSIGN_OR_RETURN(std::optional<Batch> batch, stream_->Next());
  --left_;
  return *std::move(batch);
}

}  // namespace openset
