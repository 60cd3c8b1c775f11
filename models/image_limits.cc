#include "models/image_limits.h"

namespace openset {

int SmallestImageSize(const ModelSpec& model) {
  switch (model.backbone_case()) {
    case ModelSpec::kOsrciCnn:
      return kOsrciCnnSmallestImage;
    case ModelSpec::kDensenet:
      return kDensenetSmallestImage;
    case ModelSpec::kVisionTransformer:
      return model.vision_transformer().patch();
    case ModelSpec::kSwinTransformer:
      return kSwinTransformerSmallestImage;
    case ModelSpec::kVgg32:
    case ModelSpec::kWideResnet:
    case ModelSpec::kResnetCifar:
    case ModelSpec::kResnetImagenet:
    case ModelSpec::kTorchScript:
    case ModelSpec::BACKBONE_NOT_SET:
      return 1;
  }
  return 1;
}

}  // namespace openset
