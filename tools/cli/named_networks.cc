#include "tools/cli/named_networks.h"

#include "absl/strings/str_cat.h"
#include "core/logging.h"
#include "core/proto/text_proto.h"
#include "core/text/suggest.h"

namespace openset {
namespace {

// The preprocessing of torchvision's ImageNet weights.
constexpr char kImageNet[] = "size: 224 test_shorter_side: 256 mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225]";
constexpr char kSwin[] =
    "size: 224 test_shorter_side: 232 test_filter: BICUBIC mean: [0.485, 0.456, 0.406] std: [0.229, 0.224, 0.225]";
// The preprocessing of timm's weights of vit_base_patch16_224.
constexpr char kVit[] = "size: 224 test_shorter_side: 248 test_filter: BICUBIC mean: 0.5 std: 0.5";
constexpr char kSmall[] = "size: 32";

struct Row {
  const char* name;
  const char* backbone;
  const char* input;
};

constexpr Row kRows[] = {
    {"resnet18", "resnet_imagenet { variant: RESNET18 }", kImageNet},
    {"resnet34", "resnet_imagenet { variant: RESNET34 }", kImageNet},
    {"resnet50", "resnet_imagenet { variant: RESNET50 }", kImageNet},
    {"resnet101", "resnet_imagenet { variant: RESNET101 }", kImageNet},
    {"resnet152", "resnet_imagenet { variant: RESNET152 }", kImageNet},
    {"densenet121", "densenet {}", kImageNet},
    {"swin_t", "swin_transformer {}", kSwin},
    {"vit_base_patch16_224", "vision_transformer {}", kVit},
    {"wrn28_10", "wide_resnet {}", kSmall},
    {"wrn40_2", "wide_resnet { blocks: 6 widening: 2 }", kSmall},
    {"resnet18_cifar", "resnet_cifar { variant: RESNET18 }", kSmall},
    {"resnet20_cifar", "resnet_cifar { variant: RESNET20 }", kSmall},
};

}  // namespace

absl::StatusOr<NamedNetwork> FindNamedNetwork(const std::string& name) {
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    NamedNetwork network;
    const std::string model = absl::StrCat(row.backbone, " head { linear {} }");
    CHECK(ParseTextProto(model, "a named network", &network.model).ok());
    CHECK(ParseTextProto(row.input, "a named network", &network.input).ok());
    return network;
  }
  return absl::InvalidArgumentError(UnknownName("network", name, NamedNetworks()));
}

std::vector<std::string> NamedNetworks() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

}  // namespace openset
