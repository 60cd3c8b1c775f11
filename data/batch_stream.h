// An epoch's batches, each made while the one before it is used.
#ifndef OPENSET_DATA_BATCH_STREAM_H_
#define OPENSET_DATA_BATCH_STREAM_H_

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
#include "data/batcher.h"
#include "data/pipeline.h"

namespace openset {

// One thread makes the batches in order and holds at most two of them; so `random` gives the same numbers as without
// it, but belongs to the stream until that ends. Its life: construction starts the thread, Next() gives batch after
// batch, destruction ends the thread wherever it is.
class BatchStream {
 public:
  // Batcher::At of each of `batches`. What it is given outlives it.
  BatchStream(const Batcher& batcher, std::vector<at::Tensor> batches, const Pipeline& pipeline, RandomStream* random);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  // The next batch; none when all have been given. Errors: those of Batcher::At, for this batch; none follows.
  // LibTorch's exceptions are thrown here.
  absl::StatusOr<std::optional<Batch>> Next();

  // Where `random` was after the batch that Next() gave last, or before the first one: what goes on from here draws
  // from there. Precondition: `random` is not null.
  const RandomStream::State& random_state() const { return random_state_; }

 private:
  struct Made {
    absl::StatusOr<Batch> batch;
    std::exception_ptr thrown;
    RandomStream::State random;  // after it
  };

  void MakeBatches();
  Made MakeOne(const at::Tensor& samples);

  const Batcher& batcher_;
  const std::vector<at::Tensor> batches_;
  const Pipeline& pipeline_;
  RandomStream* const random_;  // the thread's
  RandomStream::State random_state_;

  absl::Mutex mutex_;
  std::deque<Made> made_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace openset

#endif  // OPENSET_DATA_BATCH_STREAM_H_
