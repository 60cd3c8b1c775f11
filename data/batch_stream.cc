#include "data/batch_stream.h"

#include <utility>

#include "core/tensor/torch_threads.h"

namespace openset {
namespace {

constexpr size_t kAhead = 2;

}  // namespace

BatchStream::BatchStream(const Batcher& batcher, std::vector<at::Tensor> batches, const Pipeline& pipeline,
                         RandomStream* random, const OpenSetDrawing& open)
    : batcher_(batcher),
      batches_(std::move(batches)),
      pipeline_(pipeline),
      random_(random),
      open_(open),
      side_(batcher.device()),
      state_(StateNow()) {
  thread_ = std::thread([this] { MakeBatches(); });
}

BatchStream::~BatchStream() {
  {
    const absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  thread_.join();
}

BatchStream::State BatchStream::StateNow() const {
  State state;
  if (random_ != nullptr) state.augment = random_->state();
  if (open_.source == nullptr) return state;
  state.open = open_.random->state();
  state.source = open_.source->EpochState();
  return state;
}

BatchStream::Made BatchStream::MakeOne(const at::Tensor& samples) {
  try {
    absl::StatusOr<Batch> batch = batcher_.At(samples, pipeline_, random_, open_);
    return {std::move(batch), nullptr, StateNow(), side_.Mark()};
  } catch (...) {
    return {absl::InternalError("thrown"), std::current_exception(), StateNow(), std::nullopt};
  }
}

void BatchStream::MakeBatches() {
  // With its own team, there would be more threads than CPUs: the trainer's team would sleep instead of spin between
  // operations, and wake up late for each.
  const OneThreadScope one_thread;
  const SideStreamScope on_side(side_);
  const auto may_go_on = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopped_ || made_.size() < kAhead; };
  for (const at::Tensor& samples : batches_) {
    {
      const absl::MutexLock lock(&mutex_, absl::Condition(&may_go_on));
      if (stopped_) return;
    }
    Made made = MakeOne(samples);
    const bool failed = !made.batch.ok();
    {
      const absl::MutexLock lock(&mutex_);
      made_.push_back(std::move(made));
    }
    if (failed) break;
  }
  const absl::MutexLock lock(&mutex_);
  finished_ = true;
}

absl::StatusOr<std::optional<Batch>> BatchStream::Next() {
  const auto has_an_answer = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return finished_ || !made_.empty(); };
  std::optional<Made> made;
  {
    const absl::MutexLock lock(&mutex_, absl::Condition(&has_an_answer));
    if (made_.empty()) return std::optional<Batch>();
    made = std::move(made_.front());
    made_.pop_front();
  }
  if (made->thrown != nullptr) std::rethrow_exception(made->thrown);
  if (!made->batch.ok()) return made->batch.status();
  state_ = std::move(made->state);
  UseAfter(&made->ready, made->batch->OnDevice());
  return std::optional<Batch>(*std::move(made->batch));
}

}  // namespace openset
