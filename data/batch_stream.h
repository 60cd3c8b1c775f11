// The batches of an epoch, each made while the one before it is used.
#ifndef OPENSET_DATA_BATCH_STREAM_H_
#define OPENSET_DATA_BATCH_STREAM_H_

#include <cstddef>
#include <deque>
#include <exception>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/torch.h"
#include "core/tensor/transfer.h"
#include "data/batcher.h"
#include "data/pipeline.h"

namespace openset {

// One thread makes the batches in order, at most two ahead. `random` and the open set's therefore give the same numbers
// as without a stream, but nothing else may use them until the stream is destroyed. On a
// GPU, the thread has a stream of its own (core/tensor/transfer.h), so that a batch is copied and augmented
// while the device trains on the previous one. The constructor starts the thread, Next() returns one batch after
// another, and the destructor ends the thread, also before the last batch. If the system gives no thread, Next() makes
// each batch itself, with the same bits.
class BatchStream {
 public:
  // What making batches changes, between two batches.
  struct State {
    RandomStream::State augment = {};  // of `random`
    RandomStream::State open = {};     // of the open set's random stream
    std::vector<int64_t> source;       // OpenSetSource::EpochState()
  };

  // Makes Batcher::At() of each of `batches`. All arguments must outlive the stream.
  BatchStream(const Batcher& batcher, std::vector<at::Tensor> batches, const Pipeline& pipeline, RandomStream* random,
              const OpenSetDrawing& open = {});
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // Returns the next batch, or none after the last one. Returns the error of Batcher::At(), and rethrows an exception
  // that LibTorch threw, in place of the batch that was being made; no batch follows.
  absl::StatusOr<std::optional<Batch>> Next();

  // The state after the last batch that Next() returned, or before the first batch. Code that continues from here
  // starts with this state. Streams that are null, and no source, leave their part empty.
  const State& state() const { return state_; }

 private:
  struct Made {
    absl::StatusOr<Batch> batch;
    State state;                      // after this batch
    std::optional<c10::Event> ready;  // when the device has made the batch
  };

  void MakeBatches();
  Made MakeOne(const at::Tensor& samples);
  // Nothing after the last batch. Makes it now if there is no thread.
  std::optional<Made> TakeNext();
  State StateNow() const;

  const Batcher& batcher_;
  const std::vector<at::Tensor> batches_;
  const Pipeline& pipeline_;
  RandomStream* const random_;  // used by the thread, like open_
  const OpenSetDrawing open_;
  const SideStream side_;
  State state_;
  size_t made_here_ = 0;  // batches, if there is no thread

  absl::Mutex mutex_;
  std::deque<Made> made_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::exception_ptr thrown_ ABSL_GUARDED_BY(mutex_);  // while a batch was made; none follows
  std::thread thread_;
};

}  // namespace openset

#endif  // OPENSET_DATA_BATCH_STREAM_H_
