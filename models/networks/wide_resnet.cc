#include "models/networks/wide_resnet.h"

#include <string>
#include <vector>

#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/networks/dropout.h"
#include "models/networks/residual.h"

namespace openset {
namespace {

constexpr int kStages = 3;
constexpr int64_t kStem = 16;  // channels

// A module that only names its submodules.
class Parts : public Module {};

class Block : public Module {
 public:
  Block(int64_t in, int64_t out, int64_t stride, double dropout)
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
    for (int s = 0; s < kStages; ++s) {
      const int64_t out = (kStem << s) * spec.widening();
      const auto stage = register_module("block" + std::to_string(s + 1), std::make_shared<Parts>());
      const auto layer = stage->register_module("layer", std::make_shared<Parts>());
      for (int b = 0; b < spec.blocks(); ++b) {
        const int64_t stride = s > 0 && b == 0 ? 2 : 1;
        blocks_.push_back(layer->register_module(std::to_string(b),
                                                 std::make_shared<Block>(channels, out, stride, spec.block_dropout())));
        channels = out;
      }
    }
    norm_ = register_module("bn1", std::make_shared<BatchNorm>(channels));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return ForwardFrom(0, image, nullptr); }

  int num_stages() const override { return kStages; }

  // The last map comes after the last norm.
  at::Tensor ForwardFrom(int stage, const at::Tensor& from, std::vector<at::Tensor>* maps) override {
    at::Tensor x = stage == 0 ? conv1_->Forward(from) : from;
    const size_t in_stage = blocks_.size() / kStages;
    for (int s = stage; s < kStages; ++s) {
      for (size_t b = 0; b < in_stage; ++b) x = blocks_[s * in_stage + b]->Forward(x);
      if (s + 1 == kStages) x = norm_->ForwardRelu(x);
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
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<BatchNorm> norm_;
  int64_t feature_dim_ = 0;
};

}  // namespace

std::shared_ptr<Backbone> MakeWideResnet(const WideResnetSpec& spec, const InputSpec& input) {
  return std::make_shared<WideResnet>(spec, input);
}

}  // namespace openset
