#include "models/stages.h"

#include "models/residual_shape.h"

namespace openset {

int NumStages(const ModelSpec& model) {
  switch (model.backbone_case()) {
    case ModelSpec::kOsrciCnn:
      return 2;
    case ModelSpec::kVgg32:
    case ModelSpec::kWideResnet:
      return 3;
    case ModelSpec::kDensenet:
      return 4;
    case ModelSpec::kResnetCifar:
      return static_cast<int>(ResidualShapeOf(model.resnet_cifar()).blocks.size());
    case ModelSpec::kResnetImagenet:
      return static_cast<int>(ResidualShapeOf(model.resnet_imagenet()).blocks.size());
    case ModelSpec::kVisionTransformer:
    case ModelSpec::kSwinTransformer:
    case ModelSpec::kTorchScript:
    case ModelSpec::BACKBONE_NOT_SET:
      return 0;
  }
  return 0;
}

}  // namespace openset
