// Residual networks of any shape.
#ifndef OPENSET_MODELS_NETWORKS_RESIDUAL_BACKBONE_H_
#define OPENSET_MODELS_NETWORKS_RESIDUAL_BACKBONE_H_

#include <cstdint>
#include <memory>

#include "models/model.h"
#include "models/residual_shape.h"

namespace openset {

struct ResidualDropout {
  double block = 0;    // inside the blocks (models/networks/residual.h)
  double feature = 0;  // on the features
};

// The stem ("conv1", "bn1"), the stages ("layer1", ...), and global average pooling: D is the number of channels of the
// last stage.
std::shared_ptr<Backbone> MakeResidualBackbone(const ResidualShape& shape, int64_t channels,
                                               const ResidualDropout& dropout);

}  // namespace openset

#endif  // OPENSET_MODELS_NETWORKS_RESIDUAL_BACKBONE_H_
