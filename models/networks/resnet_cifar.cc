#include "models/networks/resnet_cifar.h"

#include "models/networks/residual_backbone.h"
#include "models/residual_shape.h"

namespace openset {

std::shared_ptr<Backbone> MakeResnetCifar(const ResnetCifarSpec& spec, const InputSpec& input) {
  return MakeResidualBackbone(ResidualShapeOf(spec), input.channels(), {spec.block_dropout(), spec.feature_dropout()});
}

}  // namespace openset
