#include "models/multiply_adds.h"

#include <initializer_list>

namespace openset {
namespace {

// Layers one behind the other, from images of `size` x `size`.
class Layers {
 public:
  Layers(int size, int channels) : size_(size), channels_(channels) {}

  // Padding as large as leaves the size, divided by the stride (rounded up), as it is; none with `valid`.
  void Convolve(int kernel, int channels, int stride = 1, bool valid = false) {
    size_ = valid ? size_ - kernel + 1 : (size_ + stride - 1) / stride;
    sum_ += int64_t{1} * kernel * kernel * channels_ * channels * size_ * size_;
    channels_ = channels;
  }
  void Pool(int factor) { size_ /= factor; }
  void Halve() { size_ = (size_ + 1) / 2; }
  void Linear(int64_t in, int out) { sum_ += in * out; }
  // A 1x1 convolution beside the layers since the block began with these channels.
  void Shortcut(int channels_before) { sum_ += int64_t{1} * channels_before * channels_ * size_ * size_; }

  int size() const { return size_; }
  int channels() const { return channels_; }
  int64_t sum() const { return sum_; }

 private:
  int size_;
  int channels_;
  int64_t sum_ = 0;
};

// Two 3x3 convolutions a block; the first block of a stage but the first one halves the size.
void BasicBlocks(int width, std::initializer_list<int> blocks, Layers* layers) {
  bool is_first = true;
  for (const int count : blocks) {
    for (int b = 0; b < count; ++b) {
      const int before = layers->channels();
      const int stride = b == 0 && !is_first ? 2 : 1;
      layers->Convolve(3, width, stride);
      layers->Convolve(3, width);
      if (before != width || stride != 1) layers->Shortcut(before);
    }
    is_first = false;
    width *= 2;
  }
}

// 1x1, 3x3 (with the stride) and 1x1 to four times the width.
void Bottlenecks(int width, std::initializer_list<int> blocks, Layers* layers) {
  bool is_first = true;
  for (const int count : blocks) {
    for (int b = 0; b < count; ++b) {
      const int before = layers->channels();
      layers->Convolve(1, width);
      layers->Convolve(3, width, b == 0 && !is_first ? 2 : 1);
      layers->Convolve(1, 4 * width);
      if (b == 0) layers->Shortcut(before);
    }
    is_first = false;
    width *= 2;
  }
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
    case ModelSpec::kResnetCifar: {
      const bool small = model.resnet_cifar().variant() == ResnetCifarSpec::RESNET20;
      const int width = model.resnet_cifar().width() > 0 ? model.resnet_cifar().width() : small ? 16 : 64;
      layers.Convolve(3, width);
      if (small) {
        BasicBlocks(width, {3, 3, 3}, &layers);
      } else {
        BasicBlocks(width, {2, 2, 2, 2}, &layers);
      }
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    }
    case ModelSpec::kResnetImagenet: {
      const int width = model.resnet_imagenet().width();
      layers.Convolve(7, width, 2);
      layers.Halve();
      switch (model.resnet_imagenet().variant()) {
        case ResnetImagenetSpec::RESNET18:
          BasicBlocks(width, {2, 2, 2, 2}, &layers);
          break;
        case ResnetImagenetSpec::RESNET34:
          BasicBlocks(width, {3, 4, 6, 3}, &layers);
          break;
        case ResnetImagenetSpec::RESNET101:
          Bottlenecks(width, {3, 4, 23, 3}, &layers);
          break;
        case ResnetImagenetSpec::RESNET152:
          Bottlenecks(width, {3, 8, 36, 3}, &layers);
          break;
        case ResnetImagenetSpec::RESNET50:
        case ResnetImagenetSpec::VARIANT_UNSPECIFIED:
          Bottlenecks(width, {3, 4, 6, 3}, &layers);
          break;
      }
      layers.Linear(layers.channels(), classes);
      return layers.sum();
    }
    case ModelSpec::kTorchScript:
    case ModelSpec::BACKBONE_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace openset
