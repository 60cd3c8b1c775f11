// The 9-layer network for 32x32 images of Neal et al. 2018 (OSRCI), as used since ARPL under the name "classifier32".
//
// Three blocks of three 3x3 convolutions (padding 1, no bias), the last of each block with stride 2; batch norm and
// LeakyReLU(0.2) after each, Dropout2d before each block: the first one drops whole channels of the input image. The
// feature is the mean over positions. With the default width, for images of 32x32 (64x64):
//   dropout, 3 -> 64, 64, 128, stride 2: 16x16 (32x32)
//   dropout, 128 -> 128, 128, 128, stride 2: 8x8 (16x16)
//   dropout, 128 -> 128, 128, feature_dim, stride 2: 4x4 (8x8)
// Initialisation: convolutions N(0, 0.05), batch-norm weights N(1, 0.02) (standard deviations), batch-norm biases 0.
// Parameters: conv1.weight, bn1.weight, bn1.bias, ..., conv9.weight, bn9.weight, bn9.bias, as in the released
// checkpoints, whose bn10 is never used. Images may have any size; in training mode the last batch norm needs more than
// one value per channel, so B > 1 for images of up to 8x8.
// Source: wang22ti/OpenAUC models/classifier32.py.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/initialise.h"
#include "models/networks/dropout.h"
#include "models/networks/network_members.h"

namespace openset {
namespace {

constexpr int kVggBlocks = 3;
constexpr int kLayersPerBlock = 3;
constexpr int kVggLayers = kVggBlocks * kLayersPerBlock;
constexpr double kNegativeSlope = 0.2;

bool IsFirstOfBlock(int layer) { return layer % kLayersPerBlock == 0; }
bool IsLastOfBlock(int layer) { return layer % kLayersPerBlock == kLayersPerBlock - 1; }

class Vgg32 : public Backbone {
 public:
  Vgg32(const Vgg32Spec& spec, const InputSpec& input) : feature_dim_(spec.feature_dim()) {
    int64_t channels_in = input.channels();
    for (int layer = 0; layer < kVggLayers; ++layer) {
      const int64_t channels = layer == kVggLayers - 1 ? feature_dim_ : layer < 2 ? spec.width() : 2 * spec.width();
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

  int num_stages() const override { return kVggBlocks; }

  at::Tensor ForwardFrom(int stage, const at::Tensor& x, std::vector<at::Tensor>* maps) override {
    return ForwardLayers(stage * kLayersPerBlock, x, /*norm_set=*/0, maps);
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    for (int layer = 0; layer < kVggLayers; ++layer) {
      DrawNormal(0, 0.05, random, convolutions_[layer]->weight);
      for (const auto& norm : norms_[layer]) ResetBatchNorm(1, 0.02, random, norm.get());
    }
  }

 private:
  at::Tensor ForwardLayers(int first, at::Tensor x, int norm_set, std::vector<at::Tensor>* maps) {
    const size_t set = std::min<size_t>(norm_set, norms_[0].size() - 1);
    for (int layer = first; layer < kVggLayers; ++layer) {
      if (IsFirstOfBlock(layer)) x = dropout_->Forward(x);
      x = norms_[layer][set]->ForwardReluAfter(*convolutions_[layer], x, {kNegativeSlope, {}});
      if (maps != nullptr && IsLastOfBlock(layer)) maps->push_back(x);
    }
    return x.mean({2, 3});
  }

  const int64_t feature_dim_;
  std::array<std::shared_ptr<Convolution>, kVggLayers> convolutions_;
  std::array<std::vector<std::shared_ptr<BatchNorm>>, kVggLayers> norms_;  // a norm for each set
  std::shared_ptr<Dropout> dropout_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> Make(const Vgg32Spec& spec, const InputSpec& input) {
  return std::make_shared<Vgg32>(spec, input);
}

}  // namespace openset
