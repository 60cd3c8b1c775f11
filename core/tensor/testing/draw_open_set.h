// An open set for a batch, as the thread that makes batches makes it.
#ifndef OPENSET_CORE_TENSOR_TESTING_DRAW_OPEN_SET_H_
#define OPENSET_CORE_TENSOR_TESTING_DRAW_OPEN_SET_H_

#include "absl/status/status.h"
#include "core/random.h"
#include "core/tensor/batch.h"
#include "core/tensor/open_set.h"

namespace openset {

// Calls Draw() and Take() for a batch whose images are already on the device. In a training, BatchStream
// (data/batch_stream.h) does this while it makes a batch. Returns the error of Draw(), if there is one.
absl::Status DrawOpenSet(OpenSetSource* source, RandomStream* random, Batch* batch);

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_DRAW_OPEN_SET_H_
