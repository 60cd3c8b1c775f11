#include "data/batch_stream.h"

#include <utility>

#include "core/in_parallel.h"
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
  thread_ = TryToStartThread([this] { MakeBatches(); });
}

BatchStream::~BatchStream() {
  {
    const absl::MutexLock lock(&mutex_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

BatchStream::State BatchStream::StateNow() const {
  State state;
  if (random_ != nullptr) state.augment = random_->state();
  if (open_.source == nullptr) return state;
  state.open = open_.random->state();
  state.source = open_.source->EpochState();
  return state;
}

// With its own team, there would be more threads than CPUs: the trainer's team would sleep instead of spin between
// operations, and wake up late for each.
BatchStream::Made BatchStream::MakeOne(const at::Tensor& samples) {
  const OneThreadScope one_thread;
  const SideStreamScope on_side(side_);
  absl::StatusOr<Batch> batch = batcher_.At(samples, pipeline_, random_, open_);
  return {std::move(batch), StateNow(), side_.Mark()};
}

void BatchStream::MakeBatches() {
  const auto may_go_on = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopped_ || made_.size() < kAhead; };
  std::exception_ptr thrown;
  try {
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
  } catch (...) {
    thrown = std::current_exception();
  }
  const absl::MutexLock lock(&mutex_);
  thrown_ = thrown;
  finished_ = true;
}

std::optional<BatchStream::Made> BatchStream::TakeNext() {
  if (!thread_.joinable()) {
    if (made_here_ == batches_.size()) return std::nullopt;
    Made made = MakeOne(batches_[made_here_]);
    made_here_ = made.batch.ok() ? made_here_ + 1 : batches_.size();
    return made;
  }
  const auto has_an_answer = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return finished_ || !made_.empty(); };
  const absl::MutexLock lock(&mutex_, absl::Condition(&has_an_answer));
  if (made_.empty() && thrown_ != nullptr) std::rethrow_exception(thrown_);
  if (made_.empty()) return std::nullopt;
  Made made = std::move(made_.front());
  made_.pop_front();
  return made;
}

absl::StatusOr<std::optional<Batch>> BatchStream::Next() {
  std::optional<Made> made = TakeNext();
  if (!made.has_value()) return std::optional<Batch>();
  if (!made->batch.ok()) return made->batch.status();
  state_ = std::move(made->state);
  UseAfter(&made->ready, made->batch->OnDevice());
  return std::optional<Batch>(*std::move(made->batch));
}

}  // namespace openset
