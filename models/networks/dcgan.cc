#include "models/networks/dcgan.h"

#include <algorithm>
#include <string>

#include "core/logging.h"
#include "models/initialise.h"

namespace openset {
namespace {

constexpr double kNegativeSlope = 0.2;
constexpr double kConvolutionStd = 0.02;
constexpr double kNormStd = 0.02;
constexpr int64_t kFirstSide = 4;  // of the generator; the smallest that the discriminator's last step takes

}  // namespace

bool IsDcganSize(int64_t size) { return size >= 8 && (size & (size - 1)) == 0; }

Generator::Generator(const DcganShape& shape) {
  CHECK(IsDcganSize(shape.size)) << shape.size;
  int64_t channels_in = shape.noise_dim;
  int64_t channels = 8 * shape.width;
  for (int64_t side = kFirstSide; side <= shape.size; side *= 2) {
    const bool first = side == kFirstSide;
    const bool last = side == shape.size;
    const std::string number = std::to_string(convolutions_.size() + 1);
    const ConvolutionShape convolution = {
        channels_in, last ? shape.channels : channels, 4, first ? 1 : 2, first ? 0 : 1, /*bias=*/false};
    convolutions_.push_back(register_module("conv" + number, std::make_shared<TransposedConvolution>(convolution)));
    if (!last) norms_.push_back(register_module("bn" + number, std::make_shared<BatchNorm>(channels)));
    channels_in = channels;
    channels = std::max<int64_t>(channels / 2, 1);
  }
}

at::Tensor Generator::Forward(const at::Tensor& noise) {
  at::Tensor x = noise.unsqueeze(2).unsqueeze(3);
  for (size_t i = 0; i < norms_.size(); ++i) x = norms_[i]->ForwardRelu(convolutions_[i]->Forward(x));
  return convolutions_.back()->Forward(x).sigmoid();
}

void Generator::Initialise(RandomStream* random) {
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    DrawNormal(0, kConvolutionStd, random, convolutions_[i]->weight);
    if (i < norms_.size()) ResetBatchNorm(1, kNormStd, random, norms_[i].get());
  }
}

Discriminator::Discriminator(const DcganShape& shape) {
  CHECK(IsDcganSize(shape.size)) << shape.size;
  const int64_t last_side = std::max(kFirstSide, shape.size / 8);
  int64_t channels_in = shape.channels;
  for (int64_t side = shape.size; side >= last_side; side /= 2) {
    const bool last = side == last_side;
    // 16 w at the end, half of the next before it.
    const int64_t channels = std::max<int64_t>(16 * shape.width * last_side / side, 1);
    const std::string number = std::to_string(convolutions_.size() + 1);
    const ConvolutionShape convolution = {channels_in, channels, 4, last ? 1 : 2, last ? 0 : 1, /*bias=*/false};
    convolutions_.push_back(register_module("conv" + number, std::make_shared<Convolution>(convolution)));
    if (convolutions_.size() > 1 && !last) {
      norms_.push_back(register_module("bn" + number, std::make_shared<BatchNorm>(channels)));
    }
    channels_in = channels;
  }
  linear_ = register_module("linear", std::make_shared<Linear>(channels_in, 1));
}

at::Tensor Discriminator::LastMap(const at::Tensor& image) {
  at::Tensor x = image;
  for (size_t i = 0; i + 1 < convolutions_.size(); ++i) {
    x = convolutions_[i]->Forward(x);
    x = i == 0 ? at::leaky_relu(x, kNegativeSlope) : norms_[i - 1]->ForwardRelu(x, {kNegativeSlope, {}});
  }
  return convolutions_.back()->Forward(x).sigmoid();
}

at::Tensor Discriminator::Forward(const at::Tensor& image) {
  return linear_->Forward(LastMap(image).mean({2, 3})).sigmoid().squeeze(1);
}

void Discriminator::Initialise(RandomStream* random) {
  for (const auto& convolution : convolutions_) DrawNormal(0, kConvolutionStd, random, convolution->weight);
  for (const auto& norm : norms_) ResetBatchNorm(1, kNormStd, random, norm.get());
  DrawDefault(linear_->weight, linear_->bias, random);
}

}  // namespace openset
