#include "models/networks/resnet_imagenet.h"

#include <string>
#include <utility>
#include <vector>

#include "models/initialise.h"
#include "models/networks/dropout.h"
#include "models/networks/residual.h"

namespace openset {
namespace {

constexpr int kStages = 4;

struct Shape {
  int blocks[kStages];
  // Channels of the first stage to those of the stem: 1 for basic blocks, 4 for bottlenecks.
  int expansion;
};

Shape ShapeOf(ResnetImagenetSpec::Variant variant) {
  switch (variant) {
    case ResnetImagenetSpec::RESNET18:
      return {{2, 2, 2, 2}, 1};
    case ResnetImagenetSpec::RESNET34:
      return {{3, 4, 6, 3}, 1};
    case ResnetImagenetSpec::RESNET101:
      return {{3, 4, 23, 3}, 4};
    case ResnetImagenetSpec::RESNET152:
      return {{3, 8, 36, 3}, 4};
    case ResnetImagenetSpec::RESNET50:
    case ResnetImagenetSpec::VARIANT_UNSPECIFIED:
      break;
  }
  return {{3, 4, 6, 3}, 4};
}

class ResnetImagenet : public Backbone {
 public:
  ResnetImagenet(const ResnetImagenetSpec& spec, const InputSpec& input) {
    const Shape shape = ShapeOf(spec.variant());
    const auto make = shape.expansion == 1 ? MakeBasicBlock : MakeBottleneck;
    int64_t channels = spec.width();
    conv1_ = register_module("conv1", PlainConvolution(input.channels(), channels, 7, 2));
    norm1_ = register_module("bn1", std::make_shared<BatchNorm>(channels));
    for (int s = 0; s < kStages; ++s) {
      const int64_t out = s == 0 ? shape.expansion * channels : 2 * channels;
      std::vector<std::shared_ptr<ResidualBlock>> blocks = {make(channels, out, s == 0 ? 1 : 2, spec.block_dropout())};
      while (blocks.size() < shape.blocks[s]) blocks.push_back(make(out, out, 1, spec.block_dropout()));
      stages_.push_back(
          register_module("layer" + std::to_string(s + 1), std::make_shared<ResidualStage>(std::move(blocks))));
      channels = out;
    }
    dropout_ = register_module("dropout", std::make_shared<Dropout>(spec.feature_dropout(), Dropout::Drops::kElements));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    at::Tensor x =
        at::max_pool2d(norm1_->Forward(conv1_->Forward(image)).relu_(), /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
    for (const auto& stage : stages_) x = stage->Forward(x);
    return dropout_->Forward(x.mean({2, 3}));
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    InitialiseConvolution(random, conv1_.get());
    ResetBatchNorm(1, 0, random, norm1_.get());
    for (const auto& stage : stages_) stage->Initialise(random);
  }

 private:
  std::shared_ptr<Convolution> conv1_;
  std::shared_ptr<BatchNorm> norm1_;
  std::vector<std::shared_ptr<ResidualStage>> stages_;
  std::shared_ptr<Dropout> dropout_;
  int64_t feature_dim_ = 0;
};

}  // namespace

std::shared_ptr<Backbone> MakeResnetImagenet(const ResnetImagenetSpec& spec, const InputSpec& input) {
  return std::make_shared<ResnetImagenet>(spec, input);
}

}  // namespace openset
