#include "models/networks/vgg32.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "models/initialise.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

constexpr int kBlocks = 3;
constexpr int kLayersPerBlock = 3;
constexpr int kLayers = kBlocks * kLayersPerBlock;
constexpr double kNegativeSlope = 0.2;

bool IsFirstOfBlock(int layer) { return layer % kLayersPerBlock == 0; }
bool IsLastOfBlock(int layer) { return layer % kLayersPerBlock == kLayersPerBlock - 1; }

class Vgg32 : public Backbone {
 public:
  Vgg32(const Vgg32Spec& spec, const InputSpec& input) : feature_dim_(spec.feature_dim()) {
    int64_t channels_in = input.channels();
    for (int layer = 0; layer < kLayers; ++layer) {
      const int64_t channels = layer == kLayers - 1 ? feature_dim_ : layer < 2 ? spec.width() : 2 * spec.width();
      const std::string number = std::to_string(layer + 1);
      const ConvolutionShape convolution = {channels_in,   channels, 3, IsLastOfBlock(layer) ? 2 : 1, /*padding=*/1,
                                            /*bias=*/false};
      convolutions_[layer] = register_module("conv" + number, std::make_shared<Convolution>(convolution));
      UseChannelsLast(convolutions_[layer].get());
      for (int set = 0; set < spec.norm_sets(); ++set) {
        const std::string name = "bn" + number + (set == 0 ? "" : "_set" + std::to_string(set));
        norms_[layer].push_back(register_module(name, std::make_shared<BatchNorm>(channels)));
      }
      channels_in = channels;
    }
    dropout_ = register_module("dropout", std::make_shared<Dropout>(spec.dropout(), Dropout::Drops::kChannels));
  }

  at::Tensor Forward(const at::Tensor& image, int norm_set) override {
    return ForwardLayers(0, image, norm_set, nullptr);
  }

  int num_stages() const override { return kBlocks; }

  at::Tensor ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) override {
    return ForwardLayers(stage * kLayersPerBlock, x, /*norm_set=*/0, maps);
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    for (int layer = 0; layer < kLayers; ++layer) {
      DrawNormal(0, 0.05, random, convolutions_[layer]->weight);
      for (const auto& norm : norms_[layer]) ResetBatchNorm(1, 0.02, random, norm.get());
    }
  }

 private:
  at::Tensor ForwardLayers(int first, at::Tensor x, int norm_set, std::vector<at::Tensor>* maps) {
    const size_t set = std::min<size_t>(norm_set, norms_[0].size() - 1);
    for (int layer = first; layer < kLayers; ++layer) {
      if (IsFirstOfBlock(layer)) x = dropout_->Forward(x);
      x = norms_[layer][set]->ForwardReluAfter(*convolutions_[layer], x, {kNegativeSlope, {}});
      if (maps != nullptr && IsLastOfBlock(layer)) maps->push_back(x);
    }
    return x.mean({2, 3});
  }

  const int64_t feature_dim_;
  std::array<std::shared_ptr<Convolution>, kLayers> convolutions_;
  std::array<std::vector<std::shared_ptr<BatchNorm>>, kLayers> norms_;  // a norm for each set
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace

std::shared_ptr<Backbone> MakeVgg32(const Vgg32Spec& spec, const InputSpec& input) {
  return std::make_shared<Vgg32>(spec, input);
}

}  // namespace openset
