#include "models/networks/resnet_cifar.h"

#include <string>
#include <utility>
#include <vector>

#include "models/initialise.h"
#include "models/networks/dropout.h"
#include "models/networks/residual.h"

namespace openset {
namespace {

class ResnetCifar : public Backbone {
 public:
  ResnetCifar(const ResnetCifarSpec& spec, const InputSpec& input) {
    const bool deep_and_narrow = spec.variant() == ResnetCifarSpec::RESNET20;
    const int stages = deep_and_narrow ? 3 : 4;
    int64_t channels = spec.width() > 0 ? spec.width() : deep_and_narrow ? 16 : 64;
    conv1_ = register_module("conv1", PlainConvolution(input.channels(), channels, 3, 1));
    norm1_ = register_module("bn1", std::make_shared<BatchNorm>(channels));
    for (int s = 0; s < stages; ++s) {
      const int64_t out = s == 0 ? channels : 2 * channels;
      std::vector<std::shared_ptr<ResidualBlock>> blocks = {
          MakeBasicBlock(channels, out, s == 0 ? 1 : 2, spec.block_dropout())};
      while (blocks.size() < (deep_and_narrow ? 3 : 2)) {
        blocks.push_back(MakeBasicBlock(out, out, 1, spec.block_dropout()));
      }
      stages_.push_back(
          register_module("layer" + std::to_string(s + 1), std::make_shared<ResidualStage>(std::move(blocks))));
      channels = out;
    }
    dropout_ = register_module("dropout", std::make_shared<Dropout>(spec.feature_dropout(), Dropout::Drops::kElements));
    feature_dim_ = channels;
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override {
    at::Tensor x = norm1_->Forward(conv1_->Forward(image)).relu_();
    for (const auto& stage : stages_) x = stage->Forward(x);
    return dropout_->Forward(x.mean({2, 3}));
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    InitialiseConvolution(random, conv1_.get());
    ResetBatchNorm(1, 0, random, norm1_.get());
    for (const auto& stage : stages_) stage->Initialise(random);
  }

 private:
  std::shared_ptr<Convolution> conv1_;
  std::shared_ptr<BatchNorm> norm1_;
  std::vector<std::shared_ptr<ResidualStage>> stages_;
  std::shared_ptr<Dropout> dropout_;
  int64_t feature_dim_ = 0;
};

}  // namespace

std::shared_ptr<Backbone> MakeResnetCifar(const ResnetCifarSpec& spec, const InputSpec& input) {
  return std::make_shared<ResnetCifar>(spec, input);
}

}  // namespace openset
