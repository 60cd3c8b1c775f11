// Wide residual networks for images of 32x32 (Zagoruyko and Komodakis, BMVC 2016): WRN-28-10 and WRN-40-2.
//
// Convolution 3x3 to 16 channels; 3 stages of n blocks with 16 k, 32 k and 64 k channels (n = blocks, k = widening:
// WRN-(6 n + 4)-k); batch norm, ReLU, global average pooling (D = 64 k). A block is x +
// conv2(dropout(relu(norm2(conv1(relu(norm1(x))))))), all convolutions 3x3 and without bias; the first of each stage
// but the first has stride 2. If a block changes the number of channels, its shortcut is a 1x1 convolution of
// relu(norm1(x)). With 3 input channels, WRN-28-10 (4, 10) has 36,472,784 parameters and WRN-40-2 (6, 2) has 2,242,256.
// Convolutions start from N(0, 2 / (outputs * kernel^2)), batch norm from 1 and 0. Parameters are named as in the
// PyTorch code that Outlier Exposure and pytorch-ood use: conv1, blockS.layer.B.{bn1,conv1,bn2,conv2,convShortcut},
// bn1.
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/networks/dropout.h"
#include "models/networks/network_members.h"
#include "models/networks/residual.h"

namespace openset {
namespace {

constexpr int kWideStages = 3;
constexpr int64_t kStem = 16;  // channels

class WideBlock : public Module {
 public:
  WideBlock(int64_t in, int64_t out, int64_t stride, double dropout)
      : norm1_(register_module("bn1", std::make_shared<BatchNorm>(in))),
        conv1_(register_module("conv1", PlainConvolution(in, out, 3, stride))),
        norm2_(register_module("bn2", std::make_shared<BatchNorm>(out))),
        conv2_(register_module("conv2", PlainConvolution(out, out, 3, 1))),
        dropout_(register_module("dropout", std::make_shared<Dropout>(dropout, Dropout::Drops::kElements))) {
    if (in != out) shortcut_ = register_module("convShortcut", PlainConvolution(in, out, 1, stride));
  }

  at::Tensor Forward(const at::Tensor& x) const {
    const at::Tensor active = norm1_->ForwardRelu(x);
    const at::Tensor inner = dropout_->Forward(norm2_->ForwardReluAfter(*conv1_, active));
    return conv2_->Forward(inner) + (shortcut_ == nullptr ? x : shortcut_->Forward(active));
  }

  void Initialise(RandomStream* random) {
    for (const auto& norm : {norm1_, norm2_}) ResetBatchNorm(1, 0, random, norm.get());
    for (const auto& convolution : {conv1_, conv2_, shortcut_}) {
      if (convolution != nullptr) InitialiseConvolution(random, convolution.get());
    }
  }

 private:
  const std::shared_ptr<BatchNorm> norm1_;
  const std::shared_ptr<Convolution> conv1_;
  const std::shared_ptr<BatchNorm> norm2_;
  const std::shared_ptr<Convolution> conv2_;
  const std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Convolution> shortcut_;  // null if the channels don't change
};

class WideResnet : public Backbone {
 public:
  WideResnet(const WideResnetSpec& spec, const InputSpec& input)
      : conv1_(register_module("conv1", PlainConvolution(input.channels(), kStem, 3, 1))) {
    int64_t channels = kStem;
    for (int s = 0; s < kWideStages; ++s) {
      const int64_t out = (kStem << s) * spec.widening();
      const auto stage = register_module("block" + std::to_string(s + 1), std::make_shared<Parts>());
      const auto layer = stage->register_module("layer", std::make_shared<Parts>());
      for (int b = 0; b < spec.blocks(); ++b) {
        const int64_t stride = s > 0 && b == 0 ? 2 : 1;
        blocks_.push_back(layer->register_module(
            std::to_string(b), std::make_shared<WideBlock>(channels, out, stride, spec.block_dropout())));
        channels = out;
      }
    }
    norm_ = register_module("bn1", std::make_shared<BatchNorm>(channels));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return ForwardFrom(0, image, nullptr); }

  int num_stages() const override { return kWideStages; }

  // The last map comes after the last norm.
  at::Tensor ForwardFrom(int stage, const at::Tensor& from, std::vector<at::Tensor>* maps) override {
    at::Tensor x = stage == 0 ? conv1_->Forward(from) : from;
    const size_t in_stage = blocks_.size() / kWideStages;
    for (int s = stage; s < kWideStages; ++s) {
      for (size_t b = 0; b < in_stage; ++b) x = blocks_[s * in_stage + b]->Forward(x);
      if (s + 1 == kWideStages) x = norm_->ForwardRelu(x);
      if (maps != nullptr) maps->push_back(x);
    }
    return x.mean({2, 3});
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    InitialiseConvolution(random, conv1_.get());
    for (const auto& block : blocks_) block->Initialise(random);
    ResetBatchNorm(1, 0, random, norm_.get());
  }

 private:
  const std::shared_ptr<Convolution> conv1_;
  std::vector<std::shared_ptr<WideBlock>> blocks_;
  std::shared_ptr<BatchNorm> norm_;
  int64_t feature_dim_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const WideResnetSpec& spec, const InputSpec& input) {
  return std::make_shared<WideResnet>(spec, input);
}

}  // namespace openset
