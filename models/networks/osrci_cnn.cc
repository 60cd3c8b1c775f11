// The small network of the class-imbalance paper (w4k2/torchosr v0.1.6 architectures.py, osrci_lower_stack).
//
// For images of 32x32; convolutions without padding, all layers with bias and PyTorch's default initialisation:
//   convolution 5x5 -> 10 channels, max pooling 2x2, ReLU: 14x14
//   convolution 5x5 -> 20 channels, Dropout2d, max pooling 2x2, ReLU: 5x5
//   flattened (500) -> linear -> feature_dim, ReLU
// Parameters: conv1, conv2 and fc, each .weight and .bias.
// Errors: kInvalidArgument for images below 16x16, of which the second pooling would leave nothing.
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/proto/traits.h"
#include "models/initialise.h"
#include "models/layers/pooled_relu.h"
#include "models/networks/dropout.h"
#include "models/networks/network_members.h"

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

absl::StatusOr<std::shared_ptr<Backbone>> Make(const OsrciCnnSpec& spec, const InputSpec& input) {
  const int smallest = TraitsOf(spec).smallest_image();
  if (input.size() < smallest) {
    return absl::InvalidArgumentError(absl::StrCat("osrci_cnn needs images of at least ", smallest, "x", smallest,
                                                   " (input.size is ", input.size(), ")"));
  }
  return std::make_shared<OsrciCnn>(spec, input);
}

}  // namespace openset
