#include "models/networks/residual_backbone.h"

#include <string>
#include <utility>
#include <vector>

#include "models/initialise.h"
#include "models/networks/dropout.h"
#include "models/networks/residual.h"

namespace openset {
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
