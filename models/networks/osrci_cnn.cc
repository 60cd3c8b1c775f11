#include "models/networks/osrci_cnn.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "models/initialise.h"
#include "models/layers/pooled_relu.h"
#include "models/network_traits.h"
#include "models/networks/dropout.h"

namespace openset {
namespace {

constexpr int64_t kKernel = 5;
constexpr int64_t kPooling = 2;
constexpr int64_t kChannels1 = 10;
constexpr int64_t kChannels2 = 20;

// Height (and width) after a convolution and a pooling.
int64_t SizeAfter(int64_t size) { return (size - kKernel + 1) / kPooling; }

class OsrciCnn : public Backbone {
 public:
  OsrciCnn(const OsrciCnnSpec& spec, const InputSpec& input)
      : feature_dim_(spec.feature_dim()),
        conv1_(register_module("conv1",
                               std::make_shared<Convolution>(ConvolutionShape{input.channels(), kChannels1, kKernel}))),
        conv2_(
            register_module("conv2", std::make_shared<Convolution>(ConvolutionShape{kChannels1, kChannels2, kKernel}))),
        dropout_(register_module("dropout", std::make_shared<Dropout>(spec.dropout(), Dropout::Drops::kChannels))) {
    const int64_t size = SizeAfter(SizeAfter(input.size()));
    fc_ = register_module("fc", std::make_shared<Linear>(kChannels2 * size * size, feature_dim_));
    UseChannelsLast(conv1_.get());
    UseChannelsLast(conv2_.get());
  }

  at::Tensor Forward(const at::Tensor& image, int /*norm_set*/) override { return ForwardFrom(0, image, nullptr); }

  int num_stages() const override { return 2; }

  // A stage is a convolution with what follows it.
  at::Tensor ForwardFrom(int stage, const at::Tensor& from, std::vector<at::Tensor>* maps) override {
    at::Tensor x = from;
    for (int s = stage; s < num_stages(); ++s) {
      x = s == 0 ? conv1_->Forward(x) : conv2_->Forward(x);
      x = PooledRelu(x, s == 0 ? at::Tensor() : dropout_->Factor(x));
      if (maps != nullptr) maps->push_back(x);
    }
    return fc_->Forward(x.flatten(1)).relu_();
  }

  int64_t feature_dim() const override { return feature_dim_; }

  void Initialise(RandomStream* random) override {
    DrawDefault(conv1_->weight, conv1_->bias, random);
    DrawDefault(conv2_->weight, conv2_->bias, random);
    DrawDefault(fc_->weight, fc_->bias, random);
  }

 private:
  const int64_t feature_dim_;
  std::shared_ptr<Convolution> conv1_;
  std::shared_ptr<Convolution> conv2_;
  std::shared_ptr<Dropout> dropout_;
  std::shared_ptr<Linear> fc_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Backbone>> MakeOsrciCnn(const OsrciCnnSpec& spec, const InputSpec& input) {
  if (input.size() < kOsrciCnnSmallestImage) {
    return absl::InvalidArgumentError(absl::StrCat("osrci_cnn needs images of at least ", kOsrciCnnSmallestImage, "x",
                                                   kOsrciCnnSmallestImage, " (input.size is ", input.size(), ")"));
  }
  return std::make_shared<OsrciCnn>(spec, input);
}

}  // namespace openset
