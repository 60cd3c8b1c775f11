#include "models/vgg32.h"

#include <array>
#include <string>

#include "models/initialise.h"

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
      const auto options = torch::nn::Conv2dOptions(channels_in, channels, 3)
                               .stride(IsLastOfBlock(layer) ? 2 : 1)
                               .padding(1)
                               .bias(false);
      convolutions_[layer] = register_module("conv" + number, torch::nn::Conv2d(options));
      UseChannelsLast(&convolutions_[layer]);
      norms_[layer] = register_module("bn" + number, torch::nn::BatchNorm2d(channels));
      channels_in = channels;
    }
    dropout_ = register_module("dropout", torch::nn::Dropout2d(spec.dropout()));
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    at::Tensor x = image;
    for (int layer = 0; layer < kLayers; ++layer) {
      if (IsFirstOfBlock(layer)) x = dropout_(x);
      x = norms_[layer](convolutions_[layer](x));
      x = at::leaky_relu_(x, kNegativeSlope);
    }
    return x.mean({2, 3});
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    for (int layer = 0; layer < kLayers; ++layer) {
      DrawNormal(0, 0.05, random, convolutions_[layer]->weight);
      ResetBatchNorm(1, 0.02, random, &norms_[layer]);
    }
  }

 private:
  const int64_t feature_dim_;
  std::array<torch::nn::Conv2d, kLayers> convolutions_{nullptr, nullptr, nullptr, nullptr, nullptr,
                                                       nullptr, nullptr, nullptr, nullptr};
  std::array<torch::nn::BatchNorm2d, kLayers> norms_{nullptr, nullptr, nullptr, nullptr, nullptr,
                                                     nullptr, nullptr, nullptr, nullptr};
  torch::nn::Dropout2d dropout_{nullptr};
};

}  // namespace

std::shared_ptr<Backbone> MakeVgg32(const Vgg32Spec& spec, const InputSpec& input) {
  return std::make_shared<Vgg32>(spec, input);
}

}  // namespace openset
