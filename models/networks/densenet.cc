// Densely connected networks (Huang et al., CVPR 2017): DenseNet-121.
//
// Convolution 7x7 of stride 2 to 2 g channels (g = growth), batch norm, ReLU, max pooling 3x3 of stride 2; blocks of 6,
// 12, 24 and 16 layers with transitions between them; batch norm, ReLU, global average pooling. A layer appends g
// channels to its input: norm, ReLU, convolution 1x1 to 4 g, norm, ReLU, convolution 3x3 to g. A transition is norm,
// ReLU, convolution 1x1 to half the channels, average pooling 2x2. Convolutions have no bias. With the default growth
// of 32 and 3 input channels: D = 1024, 6,953,856 parameters. Convolutions start from N(0, 2 / inputs), batch norm from
// 1 and 0, as in torchvision. Parameters have torchvision's names: features.{conv0,norm0},
// features.denseblockB.denselayerL.{norm1,conv1,norm2,conv2}, features.transitionB.{norm,conv}, features.norm5. Images
// have at least 29 pixels a side (DensenetSpec).
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "models/initialise.h"
#include "models/layers/layers.h"
#include "models/networks/network_members.h"
#include "models/networks/residual.h"

namespace openset {
namespace {

constexpr int kDenseBlocks = 4;
constexpr int kDenseLayers[kDenseBlocks] = {6, 12, 24, 16};

// convolution(relu(norm(x))).
struct DenseStep {
  DenseStep(Module* owner, const std::string& number, int64_t in, int64_t out, int64_t kernel)
      : norm(owner->register_module("norm" + number, std::make_shared<BatchNorm>(in))),
        convolution(owner->register_module("conv" + number, PlainConvolution(in, out, kernel, 1))) {}

  at::Tensor Forward(const at::Tensor& x) const { return convolution->Forward(norm->ForwardRelu(x)); }
  // Forward(before.Forward(x)).
  at::Tensor ForwardAfter(const DenseStep& before, const at::Tensor& x) const {
    return convolution->Forward(norm->ForwardReluAfter(*before.convolution, before.norm->ForwardRelu(x)));
  }

  std::shared_ptr<BatchNorm> norm;
  std::shared_ptr<Convolution> convolution;
};

class Densenet : public Backbone {
 public:
  Densenet(const DensenetSpec& spec, const InputSpec& input) {
    const int64_t growth = spec.growth();
    int64_t channels = 2 * growth;
    const auto features = register_module("features", std::make_shared<Parts>());
    stem_ = features->register_module("conv0", PlainConvolution(input.channels(), channels, 7, 2));
    stem_norm_ = features->register_module("norm0", std::make_shared<BatchNorm>(channels));
    for (int b = 0; b < kDenseBlocks; ++b) {
      const std::string number = std::to_string(b + 1);
      const auto block = features->register_module("denseblock" + number, std::make_shared<Parts>());
      for (int l = 0; l < kDenseLayers[b]; ++l) {
        const auto layer = block->register_module("denselayer" + std::to_string(l + 1), std::make_shared<Parts>());
        DenseStep narrow(layer.get(), "1", channels, 4 * growth, 1);
        layers_[b].emplace_back(std::move(narrow), DenseStep(layer.get(), "2", 4 * growth, growth, 3));
        channels += growth;
      }
      if (b + 1 == kDenseBlocks) break;
      const auto transition = features->register_module("transition" + number, std::make_shared<Parts>());
      transitions_.emplace_back(transition.get(), "", channels, channels / 2, 1);
      channels /= 2;
    }
    norm_ = features->register_module("norm5", std::make_shared<BatchNorm>(channels));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return ForwardFrom(0, image, nullptr); }

  int num_stages() const override { return kDenseBlocks; }

  // The last map comes after the last norm.
  at::Tensor ForwardFrom(int stage, const at::Tensor& from, std::vector<at::Tensor>* maps) override {
    at::Tensor x = from;
    if (stage == 0) {
      x = at::max_pool2d(stem_norm_->ForwardReluAfter(*stem_, x), /*kernel_size=*/3, /*stride=*/2,
                         /*padding=*/1);
    }
    for (int b = stage; b < kDenseBlocks; ++b) {
      if (b > 0) x = at::avg_pool2d(transitions_[b - 1].Forward(x), /*kernel_size=*/2, /*stride=*/2);
      for (const auto& [narrow, grow] : layers_[b]) x = at::cat({x, grow.ForwardAfter(narrow, x)}, 1);
      if (b + 1 == kDenseBlocks) x = norm_->ForwardRelu(x);
      if (maps != nullptr) maps->push_back(x);
    }
    return x.mean({2, 3});
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    const auto draw = [random](const Convolution& convolution) {
      const at::Tensor& weight = convolution.weight;
      DrawNormal(0, std::sqrt(2.0 * static_cast<double>(weight.size(0)) / static_cast<double>(weight.numel())), random,
                 weight);
    };
    const auto step = [&](const DenseStep& of) {
      ResetBatchNorm(1, 0, random, of.norm.get());
      draw(*of.convolution);
    };
    draw(*stem_);
    ResetBatchNorm(1, 0, random, stem_norm_.get());
    for (int b = 0; b < kDenseBlocks; ++b) {
      if (b > 0) step(transitions_[b - 1]);
      for (const auto& [narrow, grow] : layers_[b]) {
        step(narrow);
        step(grow);
      }
    }
    ResetBatchNorm(1, 0, random, norm_.get());
  }

 private:
  std::shared_ptr<Convolution> stem_;
  std::shared_ptr<BatchNorm> stem_norm_;
  std::vector<std::pair<DenseStep, DenseStep>> layers_[kDenseBlocks];
  std::vector<DenseStep> transitions_;  // before each block but the first
  std::shared_ptr<BatchNorm> norm_;
  int64_t feature_dim_ = 0;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const DensenetSpec& spec, const InputSpec& input) {
  return std::make_shared<Densenet>(spec, input);
}

}  // namespace openset
