#include "models/networks/residual.h"

#include <cmath>
#include <string>
#include <utility>

#include "models/initialise.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

// A convolution and the batch norm after it, registered with `owner` as "conv<n>" and "bn<n>".
struct NormedConvolution {
  NormedConvolution(Module* owner, int number, int64_t in, int64_t out, int64_t kernel, int64_t stride)
      : convolution(owner->register_module("conv" + std::to_string(number), PlainConvolution(in, out, kernel, stride))),
        norm(owner->register_module("bn" + std::to_string(number), std::make_shared<BatchNorm>(out))) {}

  void Initialise(RandomStream* random) {
    InitialiseConvolution(random, convolution.get());
    ResetBatchNorm(1, 0, random, norm.get());
  }

  std::shared_ptr<Convolution> convolution;
  std::shared_ptr<BatchNorm> norm;
};

// relu(f(x) + shortcut(x)), f being convolutions with ReLU and dropout between them, and dropout after the last.
class Block : public ResidualBlock {
 public:
  // Kernel sizes of the convolutions; the one at place `strided` has the stride.
  Block(int64_t in, int64_t inner, int64_t out, const std::vector<int64_t>& kernels, size_t strided, int64_t stride,
        double dropout) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      layers_.emplace_back(this, static_cast<int>(i) + 1, i == 0 ? in : inner, i + 1 == kernels.size() ? out : inner,
                           kernels[i], i == strided ? stride : 1);
    }
    dropout_ = register_module("dropout", std::make_shared<Dropout>(dropout, Dropout::Drops::kElements));
    if (in != out || stride != 1) {
      downsample_ = register_module("downsample", std::make_shared<Downsample>(in, out, stride));
    }
  }

  at::Tensor Forward(const at::Tensor& x) override {
    at::Tensor residual = x;
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      residual = dropout_->Forward(layers_[i].norm->ForwardReluAfter(*layers_[i].convolution, residual));
    }
    const NormedConvolution& last = layers_.back();
    const Relu relu = {0, downsample_ == nullptr ? x : downsample_->Forward(x)};
    if (!dropout_->IsOn()) return last.norm->ForwardReluAfter(*last.convolution, residual, relu);
    return AddAndRectify(dropout_->Forward(last.norm->ForwardAfter(*last.convolution, residual)), relu);
  }

  void Initialise(RandomStream* random) override {
    for (NormedConvolution& layer : layers_) layer.Initialise(random);
    if (downsample_ != nullptr) downsample_->Initialise(random);
  }

 private:
  std::vector<NormedConvolution> layers_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Downsample> downsample_;  // null if the shape doesn't change
};

}  // namespace

std::shared_ptr<Convolution> PlainConvolution(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  auto convolution =
      std::make_shared<Convolution>(ConvolutionShape{in, out, kernel, stride, kernel / 2, /*bias=*/false});
  UseChannelsLast(convolution.get());
  return convolution;
}

void InitialiseConvolution(RandomStream* random, Convolution* convolution) {
  const at::Tensor& weight = convolution->weight;
  DrawNormal(0, std::sqrt(2.0 / (weight.size(0) * weight.size(2) * weight.size(3))), random, weight);
}

Downsample::Downsample(int64_t in, int64_t out, int64_t stride)
    : convolution_(register_module("0", PlainConvolution(in, out, 1, stride))),
      norm_(register_module("1", std::make_shared<BatchNorm>(out))) {}

at::Tensor Downsample::Forward(const at::Tensor& x) { return norm_->ForwardAfter(*convolution_, x); }

void Downsample::Initialise(RandomStream* random) {
  InitialiseConvolution(random, convolution_.get());
  ResetBatchNorm(1, 0, random, norm_.get());
}

std::shared_ptr<ResidualBlock> MakeBasicBlock(int64_t in, int64_t out, int64_t stride, double dropout) {
  return std::make_shared<Block>(in, out, out, std::vector<int64_t>{3, 3}, 0, stride, dropout);
}

std::shared_ptr<ResidualBlock> MakeBottleneck(int64_t in, int64_t out, int64_t stride, double dropout) {
  return std::make_shared<Block>(in, out / 4, out, std::vector<int64_t>{1, 3, 1}, 1, stride, dropout);
}

ResidualStage::ResidualStage(std::vector<std::shared_ptr<ResidualBlock>> blocks) : blocks_(std::move(blocks)) {
  for (size_t b = 0; b < blocks_.size(); ++b) register_module(std::to_string(b), blocks_[b]);
}

at::Tensor ResidualStage::Forward(const at::Tensor& x) {
  at::Tensor value = x;
  for (const auto& block : blocks_) value = block->Forward(value);
  return value;
}

void ResidualStage::Initialise(RandomStream* random) {
  for (const auto& block : blocks_) block->Initialise(random);
}

namespace {

class ResidualBackbone : public Backbone {
 public:
  ResidualBackbone(const ResidualShape& shape, int64_t image_channels, const ResidualDropout& dropout)
      : is_large_(shape.large_images) {
    const auto make = shape.bottlenecks ? MakeBottleneck : MakeBasicBlock;
    int64_t channels = shape.width;
    conv1_ = register_module("conv1", PlainConvolution(image_channels, channels, is_large_ ? 7 : 3, is_large_ ? 2 : 1));
    norm1_ = register_module("bn1", std::make_shared<BatchNorm>(channels));
    for (size_t s = 0; s < shape.blocks.size(); ++s) {
      const int64_t out = s > 0 ? 2 * channels : shape.bottlenecks ? 4 * channels : channels;
      std::vector<std::shared_ptr<ResidualBlock>> blocks = {make(channels, out, s == 0 ? 1 : 2, dropout.block)};
      while (blocks.size() < shape.blocks[s]) blocks.push_back(make(out, out, 1, dropout.block));
      stages_.push_back(
          register_module("layer" + std::to_string(s + 1), std::make_shared<ResidualStage>(std::move(blocks))));
      channels = out;
    }
    dropout_ = register_module("dropout", std::make_shared<Dropout>(dropout.feature, Dropout::Drops::kElements));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return ForwardFrom(0, image, nullptr); }

  int num_stages() const override { return static_cast<int>(stages_.size()); }

  at::Tensor ForwardFrom(int stage, const at::Tensor& from, std::vector<at::Tensor>* maps) override {
    at::Tensor x = stage == 0 ? Stem(from) : from;
    for (size_t s = stage; s < stages_.size(); ++s) {
      x = stages_[s]->Forward(x);
      if (maps != nullptr) maps->push_back(x);
    }
    return dropout_->Forward(x.mean({2, 3}));
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    InitialiseConvolution(random, conv1_.get());
    ResetBatchNorm(1, 0, random, norm1_.get());
    for (const auto& stage : stages_) stage->Initialise(random);
  }

 private:
  at::Tensor Stem(const at::Tensor& image) const {
    const at::Tensor x = norm1_->ForwardReluAfter(*conv1_, image);
    return is_large_ ? at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1) : x;
  }

  const bool is_large_;
  std::shared_ptr<Convolution> conv1_;
  std::shared_ptr<BatchNorm> norm1_;
  std::vector<std::shared_ptr<ResidualStage>> stages_;
  std::shared_ptr<Dropout> dropout_;
  int64_t feature_dim_ = 0;
};

}  // namespace

std::shared_ptr<Backbone> MakeResidualBackbone(const ResidualShape& shape, int64_t channels,
                                               const ResidualDropout& dropout) {
  return std::make_shared<ResidualBackbone>(shape, channels, dropout);
}

}  // namespace openset
