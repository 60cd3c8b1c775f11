#include "models/transformers/vision_transformer.h"

#include <string>
#include <vector>

#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/transformers/tokens.h"

namespace openset {
namespace {

constexpr double kEpsilon = 1e-6;  // of layer norms

// A module that only names its submodules.
class Parts : public Module {};

class Block : public Module {
 public:
  Block(int64_t width, int64_t heads)
      : heads_(heads),
        norm1_(register_module("norm1", std::make_shared<LayerNorm>(width, kEpsilon))),
        attention_(register_module("attn", std::make_shared<Parts>())),
        norm2_(register_module("norm2", std::make_shared<LayerNorm>(width, kEpsilon))),
        mlp_(register_module("mlp", std::make_shared<Parts>())),
        qkv_(attention_->register_module("qkv", std::make_shared<Dense>(width, 3 * width))),
        projection_(attention_->register_module("proj", std::make_shared<Dense>(width, width))),
        fc1_(mlp_->register_module("fc1", std::make_shared<Dense>(width, 4 * width))),
        fc2_(mlp_->register_module("fc2", std::make_shared<Dense>(4 * width, width))) {}

  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor seen = x + projection_->Forward(Attention(qkv_->Forward(norm1_->Forward(x)), heads_));
    return seen + fc2_->Forward(at::gelu(fc1_->Forward(norm2_->Forward(seen))));
  }

  void Initialise(RandomStream* random) {
    for (const auto& norm : {norm1_, norm2_}) norm->Initialise();
    for (const auto& dense : {qkv_, projection_, fc1_, fc2_}) dense->Initialise(random);
  }

 private:
  const int64_t heads_;
  const std::shared_ptr<LayerNorm> norm1_;
  const std::shared_ptr<Parts> attention_;
  const std::shared_ptr<LayerNorm> norm2_;
  const std::shared_ptr<Parts> mlp_;
  const std::shared_ptr<Dense> qkv_, projection_, fc1_, fc2_;
};

class VisionTransformer : public Backbone {
 public:
  VisionTransformer(const VisionTransformerSpec& spec, const InputSpec& input) : width_(spec.width()) {
    const int64_t side = input.size() / spec.patch();
    class_token_ = register_parameter("cls_token", at::zeros({1, 1, width_}));
    position_ = register_parameter("pos_embed", at::zeros({1, side * side + 1, width_}));
    const auto patches = register_module("patch_embed", std::make_shared<Parts>());
    const ConvolutionShape shape{input.channels(), width_, spec.patch(), spec.patch()};
    patch_ = patches->register_module("proj", std::make_shared<Convolution>(shape));
    UseChannelsLast(patch_.get());
    const auto blocks = register_module("blocks", std::make_shared<Parts>());
    for (int b = 0; b < spec.depth(); ++b) {
      blocks_.push_back(blocks->register_module(std::to_string(b), std::make_shared<Block>(width_, spec.heads())));
    }
    norm_ = register_module("norm", std::make_shared<LayerNorm>(width_, kEpsilon));
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    const at::Tensor patches = patch_->Forward(image).flatten(2).transpose(1, 2);  // [B, N, D]
    const at::Tensor first = class_token_.to(patches.scalar_type()).expand({image.size(0), 1, width_});
    at::Tensor x = at::cat({first, patches}, 1) + position_;
    for (const auto& block : blocks_) x = block->Forward(x);
    return norm_->Forward(x.select(1, 0));
  }

  int64_t feature_dim() const override { return width_; }

  void Initialise(RandomStream* random) override {
    DrawNormal(0, 1e-6, random, class_token_);
    DrawNormal(0, 0.02, random, position_);
    DrawDefault(patch_->weight, patch_->bias, random);
    for (const auto& block : blocks_) block->Initialise(random);
    norm_->Initialise();
  }

 private:
  const int64_t width_;
  at::Tensor class_token_, position_;
  std::shared_ptr<Convolution> patch_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace

std::shared_ptr<Backbone> MakeVisionTransformer(const VisionTransformerSpec& spec, const InputSpec& input) {
  return std::make_shared<VisionTransformer>(spec, input);
}

}  // namespace openset
