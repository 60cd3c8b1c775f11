// An open-set source that also writes down what it draws, for another program to repeat. The sources of
// loss_curves.h; external images are made up, and the network sees them at its own precision.
#ifndef OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_
#define OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/tensor/open_set.h"
#include "core/tensor/torch.h"
#include "experiments/spec/method.proto.h"

namespace openset {

// By name, a tensor for each step.
using Draws = std::map<std::string, std::vector<at::Tensor>>;

struct NotedSourceSizes {
  int64_t classes;
  int64_t batch;
  int64_t feature_dim;
  int64_t image;  // pixels of a side
  int stages;     // of the network
};

// Notes "order" and "coefficient" of feature and stage mixup, "order" and "share" of mixed images, "far" of virtual
// outliers, "share" of external images that are mixed, and the images that it adds, as "extra", in f32. Precondition:
// the source is one of these or noise images. `draws` outlives it.
std::unique_ptr<OpenSetSource> MakeNotedSource(const OpenSetSpec& spec, const NotedSourceSizes& sizes,
                                               at::ScalarType dtype, Draws* draws);

}  // namespace openset

#endif  // OPENSET_TOOLS_PEERS_NOTED_SOURCE_H_
