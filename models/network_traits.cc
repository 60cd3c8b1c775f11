#include "models/network_traits.h"

#include "models/residual_shape.h"

namespace openset {
namespace {

template <typename Spec>
NetworkTraits ResidualTraits(const Spec& spec) {
  return {/*smallest_image=*/1, static_cast<int>(ResidualShapeOf(spec).blocks.size()),
          spec.block_dropout() > 0 || spec.feature_dropout() > 0};
}

}  // namespace

NetworkTraits TraitsOf(const ModelSpec& model) {
  switch (model.backbone_case()) {
    case ModelSpec::kVgg32:
      return {/*smallest_image=*/1, /*stages=*/3, model.vgg32().dropout() > 0};
    case ModelSpec::kOsrciCnn:
      return {kOsrciCnnSmallestImage, /*stages=*/2, model.osrci_cnn().dropout() > 0};
    case ModelSpec::kWideResnet:
      return {/*smallest_image=*/1, /*stages=*/3, model.wide_resnet().block_dropout() > 0};
    case ModelSpec::kResnetCifar:
      return ResidualTraits(model.resnet_cifar());
    case ModelSpec::kResnetImagenet:
      return ResidualTraits(model.resnet_imagenet());
    case ModelSpec::kDensenet:
      return {kDensenetSmallestImage, /*stages=*/4, /*has_dropout=*/false};
    case ModelSpec::kVisionTransformer:
      return {model.vision_transformer().patch(), /*stages=*/0, /*has_dropout=*/false};
    case ModelSpec::kSwinTransformer:
      return {kSwinTransformerSmallestImage, /*stages=*/0, /*has_dropout=*/false};
    case ModelSpec::kTorchScript:  // if it has dropout, that can't be switched on
    case ModelSpec::BACKBONE_NOT_SET:
      return {};
  }
  return {};
}

}  // namespace openset
