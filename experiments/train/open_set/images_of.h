// What an open-set source adds to a batch, for tests.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_IMAGES_OF_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_IMAGES_OF_H_

#include <memory>

#include "core/random.h"
#include "core/status_macros.h"
#include "core/tensor/open_set.h"
#include "core/tensor/testing/draw_open_set.h"

namespace openset {

// Returns the images that the source makes for this batch; undefined if there are none. Returns the error of Draw(), if
// there is one.
inline absl::StatusOr<at::Tensor> ImagesOf(const std::unique_ptr<OpenSetSource>& source, Batch batch,
                                           RandomStream* random) {
  OPENSET_RETURN_IF_ERROR(DrawOpenSet(source.get(), random, &batch));
  return batch.open->image;
}

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_IMAGES_OF_H_
