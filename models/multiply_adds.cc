#include "models/multiply_adds.h"

#include <cstddef>

#include "models/residual_shape.h"

namespace openset {
namespace {

// Layers one after the other, from images of `size` x `size`.
class Layers {
 public:
  Layers(int size, int channels) : size_(size), channels_(channels) {}

  // Padded so that the size is only divided by the stride (rounded up); not padded with `valid`.
  void Convolve(int kernel, int channels, int stride = 1, bool valid = false) {
    size_ = valid ? size_ - kernel + 1 : (size_ + stride - 1) / stride;
    sum_ += int64_t{1} * kernel * kernel * channels_ * channels * size_ * size_;
    channels_ = channels;
  }
  void Pool(int factor) { size_ /= factor; }
  void Halve() { size_ = (size_ + 1) / 2; }
  void Linear(int64_t in, int out) { sum_ += in * out; }
  // A 1x1 convolution parallel to the layers since the start of the block, which had these channels.
  void Shortcut(int channels_before) { sum_ += int64_t{1} * channels_before * channels_ * size_ * size_; }

  // Concatenates the earlier channels and the last layer's.
  void Concatenate(int channels_before) { channels_ += channels_before; }

  int size() const { return size_; }
  int channels() const { return channels_; }
  int64_t sum() const { return sum_; }

 private:
  int size_;
  int channels_;
  int64_t sum_ = 0;
};

// All blocks of a shape (models/networks/residual.h).
void ResidualBlocks(const ResidualShape& shape, Layers* layers) {
  int width = shape.width;
  for (size_t s = 0; s < shape.blocks.size(); ++s, width *= 2) {
    for (int b = 0; b < shape.blocks[s]; ++b) {
      const int before = layers->channels();
      const int stride = b == 0 && s > 0 ? 2 : 1;
      if (shape.bottlenecks) layers->Convolve(1, width);
      layers->Convolve(3, width, stride);
      layers->Convolve(shape.bottlenecks ? 1 : 3, shape.bottlenecks ? 4 * width : width);
      if (before != layers->channels() || stride != 1) layers->Shortcut(before);
    }
  }
}

void ResidualNetwork(const ResidualShape& shape, Layers* layers) {
  layers->Convolve(shape.large_images ? 7 : 3, shape.width, shape.large_images ? 2 : 1);
  if (shape.large_images) layers->Halve();
  ResidualBlocks(shape, layers);
}

void WideNetwork(const WideResnetSpec& spec, Layers* layers) {
  layers->Convolve(3, 16);
  for (int stage = 0; stage < 3; ++stage) {
    for (int b = 0; b < spec.blocks(); ++b) {
      const int before = layers->channels();
      layers->Convolve(3, (16 << stage) * spec.widening(), stage > 0 && b == 0 ? 2 : 1);
      layers->Convolve(3, layers->channels());
      if (before != layers->channels()) layers->Shortcut(before);
    }
  }
}

void DenseNetwork(int growth, Layers* layers) {
  layers->Convolve(7, 2 * growth, 2);
  layers->Halve();
  for (const int count : {6, 12, 24, 16}) {
    if (count > 6) {
      layers->Convolve(1, layers->channels() / 2);
      layers->Pool(2);
    }
    for (int l = 0; l < count; ++l) {
      const int before = layers->channels();
      layers->Convolve(1, 4 * growth);
      layers->Convolve(3, growth);
      layers->Concatenate(before);
    }
  }
}

// `tokens` tokens that attend to `seen` tokens each, with an inner layer of four times the width: each token needs 12
// width^2 multiply-adds, and 2 width for each token that it sees.
int64_t TransformerBlock(int64_t tokens, int64_t seen, int64_t width) {
  return tokens * (12 * width * width + 2 * seen * width);
}

int64_t VisionTransformer(const VisionTransformerSpec& spec, const InputSpec& input) {
  const int64_t patches = int64_t{1} * (input.size() / spec.patch()) * (input.size() / spec.patch());
  const int64_t first = patches * spec.patch() * spec.patch() * input.channels() * spec.width();
  return first + spec.depth() * TransformerBlock(patches + 1, patches + 1, spec.width());
}

// Windows of 7x7 tokens, the last ones padded.
int64_t SwinTransformer(int64_t width, const InputSpec& input) {
  int64_t side = input.size() / 4;
  int64_t sum = side * side * 16 * input.channels() * width;
  for (const int blocks : {2, 2, 6, 2}) {
    const int64_t filled = (side + 6) / 7 * 7;
    const int64_t attention = 4 * width * width + 2 * 49 * width;  // for each token of a window
    sum += blocks * (filled * filled * attention + side * side * 8 * width * width);
    side = (side + 1) / 2;
    width *= 2;
    sum += side * side * 2 * width * width;  // four tokens of half the width become one
  }
  // Nothing follows the last stage.
  return sum - side * side * 2 * width * width;
}

}  // namespace

std::optional<int64_t> MultiplyAdds(const ModelSpec& model, const InputSpec& input, int classes) {
  Layers layers(input.size(), input.channels());
  switch (model.backbone_case()) {
    case ModelSpec::kVgg32: {
      const int width = model.vgg32().width();
      layers.Convolve(3, width);
      layers.Convolve(3, width);
      layers.Convolve(3, 2 * width, 2);
      for (const int last : {2 * width, model.vgg32().feature_dim()}) {
        layers.Convolve(3, 2 * width);
        layers.Convolve(3, 2 * width);
        layers.Convolve(3, last, 2);
      }
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    }
    case ModelSpec::kOsrciCnn: {
      layers.Convolve(5, 10, 1, true);
      layers.Pool(2);
      layers.Convolve(5, 20, 1, true);
      layers.Pool(2);
      layers.Linear(int64_t{1} * layers.channels() * layers.size() * layers.size(), model.osrci_cnn().feature_dim());
      layers.Linear(model.osrci_cnn().feature_dim(), classes);
      return layers.sum();
    }
    case ModelSpec::kResnetCifar:
      ResidualNetwork(ResidualShapeOf(model.resnet_cifar()), &layers);
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    case ModelSpec::kResnetImagenet:
      ResidualNetwork(ResidualShapeOf(model.resnet_imagenet()), &layers);
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    case ModelSpec::kWideResnet:
      WideNetwork(model.wide_resnet(), &layers);
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    case ModelSpec::kDensenet:
      DenseNetwork(model.densenet().growth(), &layers);
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    case ModelSpec::kVisionTransformer: {
      const VisionTransformerSpec& spec = model.vision_transformer();
      return VisionTransformer(spec, input) + int64_t{1} * spec.width() * classes;
    }
    case ModelSpec::kSwinTransformer: {
      const int64_t width = model.swin_transformer().width();
      return SwinTransformer(width, input) + 8 * width * classes;
    }
    case ModelSpec::kFeatures:
      return int64_t{1} * model.features().dim() * classes;
    case ModelSpec::kOutputs:
    case ModelSpec::kTorchScript:
    case ModelSpec::BACKBONE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace openset
