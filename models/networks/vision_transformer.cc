// Vision transformers (Dosovitskiy et al., ICLR 2021): ViT-B/16 by default.
//
// A class token and then a token for each patch (a convolution of the patch's size and stride), each plus a position
// embedding; then `depth` blocks
//   x + projection(attention(norm1(x))),  x + fc2(gelu(fc1(norm2(x)))), fc1 to 4 times the width;
// the features are norm(x) of the class token (D = width). Layer norms have an epsilon of 1e-6. There is no dropout. If
// the image's size is not a multiple of the patch, its last rows and columns are ignored. With the defaults and 224x224
// images of 3 channels, it has 85,798,656 parameters. Weights start from N(0, 0.02^2), the patches' like PyTorch's
// convolutions, biases from 0. Parameters are named as in timm: cls_token, pos_embed, patch_embed.proj,
// blocks.B.{norm1,attn.qkv,attn.proj,norm2,mlp.fc1,mlp.fc2}, norm.
#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/networks/network_members.h"
#include "models/networks/tokens.h"

namespace openset {
namespace {

constexpr double kVisionEpsilon = 1e-6;  // of layer norms

class VisionBlock : public Module {
 public:
  VisionBlock(int64_t width, int64_t heads)
      : heads_(heads),
        norm1_(register_module("norm1", std::make_shared<LayerNorm>(width, kVisionEpsilon))),
        attention_(register_module("attn", std::make_shared<Parts>())),
        norm2_(register_module("norm2", std::make_shared<LayerNorm>(width, kVisionEpsilon))),
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
      blocks_.push_back(
          blocks->register_module(std::to_string(b), std::make_shared<VisionBlock>(width_, spec.heads())));
    }
    norm_ = register_module("norm", std::make_shared<LayerNorm>(width_, kVisionEpsilon));
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
  std::vector<std::shared_ptr<VisionBlock>> blocks_;
  std::shared_ptr<LayerNorm> norm_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const VisionTransformerSpec& spec, const InputSpec& input) {
  return std::make_shared<VisionTransformer>(spec, input);
}

}  // namespace openset
