// What a source of open samples is made from, apart from its spec.
#ifndef OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_OPEN_SET_SETTING_H_
#define OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_OPEN_SET_SETTING_H_

#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "data/batcher.h"
#include "data/pipeline.h"

namespace openset {

// Images with what makes inputs of the model from them.
struct PipelinedImages {
  Batcher images;
  Pipeline pipeline;
};

struct OpenSetSetting {
  at::Device device = at::kCPU;
  uint64_t seed = 0;   // of the training
  int batch_size = 0;  // of a full batch
  InputFormat format;  // of the batches
  // Of the model: its known classes, the dimension of its features, and its stages (Backbone::num_stages()).
  int64_t classes = 0;
  int64_t feature_dim = 0;
  int stages = 0;
  // The task's external images, not empty, for the batches' device and format. Only for sources that read them.
  std::function<absl::StatusOr<PipelinedImages>()> external_images;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TRAIN_OPEN_SET_OPEN_SET_SETTING_H_
