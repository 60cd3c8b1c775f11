#include "data/batch_stream.h"

#include <utility>

namespace openset {
namespace {

constexpr size_t kAhead = 2;

RandomStream::State StateOf(const RandomStream* random) {
  return random != nullptr ? random->state() : RandomStream::State{};
}

}  // namespace

BatchStream::BatchStream(const Batcher& batcher, std::vector<at::Tensor> batches, const Pipeline& pipeline,
                         RandomStream* random)
    : batcher_(batcher),
      batches_(std::move(batches)),
      pipeline_(pipeline),
      random_(random),
      random_state_(StateOf(random)) {
  thread_ = std::thread([this] { MakeBatches(); });
}

BatchStream::~BatchStream() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

BatchStream::Made BatchStream::MakeOne(const at::Tensor& samples) {
  try {
    absl::StatusOr<Batch> batch = batcher_.At(samples, pipeline_, random_);
    return {std::move(batch), nullptr, StateOf(random_)};
  } catch (...) {
    return {absl::InternalError("thrown"), std::current_exception(), StateOf(random_)};
  }
}

void BatchStream::MakeBatches() {
  for (const at::Tensor& samples : batches_) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || made_.size() < kAhead; });
      if (stopped_) return;
    }
    Made made = MakeOne(samples);
    const bool failed = !made.batch.ok();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      made_.push_back(std::move(made));
    }
    changed_.notify_all();
    if (failed) break;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
}

absl::StatusOr<std::optional<Batch>> BatchStream::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return finished_ || !made_.empty(); });
  if (made_.empty()) return std::optional<Batch>();
  Made made = std::move(made_.front());
  made_.pop_front();
  lock.unlock();
  changed_.notify_all();
  if (made.thrown != nullptr) std::rethrow_exception(made.thrown);
  if (!made.batch.ok()) return made.batch.status();
  random_state_ = made.random;
  return std::optional<Batch>(*std::move(made.batch));
}

}  // namespace openset
