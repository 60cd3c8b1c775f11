#include "models/resnet_cifar.h"

#include <cmath>
#include <string>
#include <vector>

#include "models/initialise.h"

namespace openset {
namespace {

torch::nn::Conv2d Convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  torch::nn::Conv2d convolution(
      torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
  UseChannelsLast(&convolution);
  return convolution;
}

void InitialiseConvolution(RandomStream* random, torch::nn::Conv2d* convolution) {
  const at::Tensor& weight = (*convolution)->weight;
  DrawNormal(0, std::sqrt(2.0 / (weight.size(0) * weight.size(2) * weight.size(3))), random, weight);
}

// A 1x1 convolution and batch norm.
class Downsample : public torch::nn::Module {
 public:
  Downsample(int64_t in, int64_t out, int64_t stride)
      : convolution_(register_module("0", Convolution(in, out, 1, stride))),
        norm_(register_module("1", torch::nn::BatchNorm2d(out))) {}

  at::Tensor Forward(const at::Tensor& x) { return norm_(convolution_(x)); }

  void Initialise(RandomStream* random) {
    InitialiseConvolution(random, &convolution_);
    ResetBatchNorm(1, 0, random, &norm_);
  }

 private:
  torch::nn::Conv2d convolution_;
  torch::nn::BatchNorm2d norm_;
};

class BasicBlock : public torch::nn::Module {
 public:
  BasicBlock(int64_t in, int64_t out, int64_t stride, double dropout)
      : conv1_(register_module("conv1", Convolution(in, out, 3, stride))),
        norm1_(register_module("bn1", torch::nn::BatchNorm2d(out))),
        conv2_(register_module("conv2", Convolution(out, out, 3, 1))),
        norm2_(register_module("bn2", torch::nn::BatchNorm2d(out))),
        dropout_(register_module("dropout", torch::nn::Dropout(dropout))) {
    if (in != out || stride != 1) {
      downsample_ = register_module("downsample", std::make_shared<Downsample>(in, out, stride));
    }
  }

  at::Tensor Forward(const at::Tensor& x) {
    const at::Tensor inner = dropout_(norm1_(conv1_(x)).relu_());
    const at::Tensor residual = dropout_(norm2_(conv2_(inner)));
    return (residual + (downsample_ == nullptr ? x : downsample_->Forward(x))).relu_();
  }

  void Initialise(RandomStream* random) {
    InitialiseConvolution(random, &conv1_);
    ResetBatchNorm(1, 0, random, &norm1_);
    InitialiseConvolution(random, &conv2_);
    ResetBatchNorm(1, 0, random, &norm2_);
    if (downsample_ != nullptr) downsample_->Initialise(random);
  }

 private:
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d norm1_;
  torch::nn::Conv2d conv2_;
  torch::nn::BatchNorm2d norm2_;
  torch::nn::Dropout dropout_;
  std::shared_ptr<Downsample> downsample_;  // null where the shape stays
};

// Blocks called "0", "1", ...
class Stage : public torch::nn::Module {
 public:
  Stage(int64_t in, int64_t out, int64_t stride, int blocks, double dropout) {
    for (int b = 0; b < blocks; ++b) {
      blocks_.push_back(register_module(
          std::to_string(b), std::make_shared<BasicBlock>(b == 0 ? in : out, out, b == 0 ? stride : 1, dropout)));
    }
  }

  at::Tensor Forward(at::Tensor x) {
    for (const auto& block : blocks_) x = block->Forward(x);
    return x;
  }

  void Initialise(RandomStream* random) {
    for (const auto& block : blocks_) block->Initialise(random);
  }

 private:
  std::vector<std::shared_ptr<BasicBlock>> blocks_;
};

class ResnetCifar : public Backbone {
 public:
  ResnetCifar(const ResnetCifarSpec& spec, const InputSpec& input) {
    const bool deep_and_narrow = spec.variant() == ResnetCifarSpec::RESNET20;
    const int stages = deep_and_narrow ? 3 : 4;
    int64_t channels = spec.width() > 0 ? spec.width() : deep_and_narrow ? 16 : 64;
    conv1_ = register_module("conv1", Convolution(input.channels(), channels, 3, 1));
    norm1_ = register_module("bn1", torch::nn::BatchNorm2d(channels));
    for (int s = 0; s < stages; ++s) {
      const int64_t out = s == 0 ? channels : 2 * channels;
      stages_.push_back(register_module(
          "layer" + std::to_string(s + 1),
          std::make_shared<Stage>(channels, out, s == 0 ? 1 : 2, deep_and_narrow ? 3 : 2, spec.block_dropout())));
      channels = out;
    }
    dropout_ = register_module("dropout", torch::nn::Dropout(spec.feature_dropout()));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    at::Tensor x = norm1_(conv1_(image)).relu_();
    for (const auto& stage : stages_) x = stage->Forward(x);
    return dropout_(x.mean({2, 3}));
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    InitialiseConvolution(random, &conv1_);
    ResetBatchNorm(1, 0, random, &norm1_);
    for (const auto& stage : stages_) stage->Initialise(random);
  }

 private:
  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::BatchNorm2d norm1_{nullptr};
  std::vector<std::shared_ptr<Stage>> stages_;
  torch::nn::Dropout dropout_{nullptr};
  int64_t feature_dim_ = 0;
};

}  // namespace

std::shared_ptr<Backbone> MakeResnetCifar(const ResnetCifarSpec& spec, const InputSpec& input) {
  return std::make_shared<ResnetCifar>(spec, input);
}

}  // namespace openset
