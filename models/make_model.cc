#include "models/make_model.h"

#include <utility>

#include "core/logging.h"
#include "core/status_macros.h"
#include "models/heads/decomposed_head.h"
#include "models/heads/linear_head.h"
#include "models/heads/point_head.h"
#include "models/heads/random_temperature_head.h"
#include "models/networks/densenet.h"
#include "models/networks/osrci_cnn.h"
#include "models/networks/resnet_cifar.h"
#include "models/networks/resnet_imagenet.h"
#include "models/networks/vgg32.h"
#include "models/networks/wide_resnet.h"
#include "models/torch_script.h"
#include "models/transformers/swin_transformer.h"
#include "models/transformers/vision_transformer.h"

namespace openset {
namespace {

absl::StatusOr<std::shared_ptr<Backbone>> MakeBackbone(const ModelSpec& spec, const InputSpec& input) {
  switch (spec.backbone_case()) {
    case ModelSpec::kVgg32:
      return MakeVgg32(spec.vgg32(), input);
    case ModelSpec::kOsrciCnn:
      return MakeOsrciCnn(spec.osrci_cnn(), input);
    case ModelSpec::kResnetCifar:
      return MakeResnetCifar(spec.resnet_cifar(), input);
    case ModelSpec::kResnetImagenet:
      return MakeResnetImagenet(spec.resnet_imagenet(), input);
    case ModelSpec::kWideResnet:
      return MakeWideResnet(spec.wide_resnet(), input);
    case ModelSpec::kDensenet:
      return MakeDensenet(spec.densenet(), input);
    case ModelSpec::kVisionTransformer:
      return MakeVisionTransformer(spec.vision_transformer(), input);
    case ModelSpec::kSwinTransformer:
      return MakeSwinTransformer(spec.swin_transformer(), input);
    case ModelSpec::kTorchScript:  // made as a whole
    case ModelSpec::BACKBONE_NOT_SET:
      break;
  }
  LOG(FATAL) << "a ModelSpec without a backbone";
}

std::shared_ptr<Head> MakeHead(const HeadSpec& spec, int64_t feature_dim, int num_classes) {
  const int64_t outputs = num_classes + spec.extra_outputs();
  switch (spec.kind_case()) {
    case HeadSpec::kLinear:
      return MakeLinearHead(spec.linear(), feature_dim, outputs);
    case HeadSpec::kPrototype:
      return MakePrototypeHead(spec.prototype(), feature_dim, outputs);
    case HeadSpec::kReciprocalPoint:
      return MakeReciprocalPointHead(spec.reciprocal_point(), feature_dim, outputs);
    case HeadSpec::kDecomposed:
      return MakeDecomposedHead(spec.decomposed(), feature_dim, outputs);
    case HeadSpec::kRandomTemperature:
      return MakeRandomTemperatureHead(spec.random_temperature(), feature_dim, outputs);
    case HeadSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a HeadSpec without a kind";
}

}  // namespace

absl::StatusOr<std::shared_ptr<Model>> MakeModel(const ModelSpec& spec, const InputSpec& input, int num_classes,
                                                 RandomStream* random, const ModelUse& use) {
  if (spec.has_torch_script()) {
    // The script may draw while its outputs are checked.
    at::Generator generator = at::globalContext().defaultGenerator(use.device);
    const at::Tensor generator_state = generator.get_state();
    auto model = MakeTorchScriptModel(spec.torch_script(), input, num_classes, use);
    generator.set_state(generator_state);
    return model;
  }
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<Backbone> backbone, MakeBackbone(spec, input));
  std::shared_ptr<Head> head = MakeHead(spec.head(), backbone->feature_dim(), num_classes);
  backbone->Initialise(random);
  head->Initialise(random);
  return std::make_shared<Model>(std::move(backbone), std::move(head));
}

}  // namespace openset
