// Open-set sources that also record what they draw, so that another program can repeat it (loss_curves.h). External
// images are synthetic, and the network sees them in its own precision.
#ifndef OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_
#define OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"

namespace openset {

// Recorded tensors by name, one for each step.
using Draws = std::map<std::string, std::vector<at::Tensor>>;

struct NotedSourceSizes {
  int64_t classes;
  int64_t batch;
  int64_t feature_dim;
  int64_t image;  // pixels of a side
  int stages;     // of the network
};

// Makes a source that records "order" and "coefficient" of feature and stage mixup, "order" and "share" of mixed
// images, "far" of virtual outliers, "share" of mixed external images, and the images that it adds, as "extra", in f32.
// Precondition: `spec` is one of these or noise images. `draws` must outlive the source.
std::unique_ptr<OpenSetSource> MakeNotedSource(const OpenSetSpec& spec, const NotedSourceSizes& sizes,
                                               at::ScalarType dtype, Draws* draws);

}  // namespace openset

#endif  // OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_
