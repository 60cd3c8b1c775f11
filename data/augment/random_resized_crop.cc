#include "data/augment/random_resized_crop.h"

#include <algorithm>
#include <cmath>

#include "data/augment/augmentation_members.h"
#include "data/augment/resize.h"

namespace openset {
namespace {

constexpr int kAttempts = 10;

// Above all sizes of images, so that larger values need no int64.
constexpr double kTooLarge = 1e9;

int64_t Rounded(double value) { return static_cast<int64_t>(std::nearbyint(std::min(value, kTooLarge))); }

}  // namespace

CropWindow DrawCropWindow(const RandomResizedCropSpec& spec, int64_t height, int64_t width, RandomStream* random) {
  CropWindow window;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const double area = static_cast<double>(height * width) * random->Uniform(spec.min_area(), spec.max_area());
    const double ratio = std::exp(random->Uniform(std::log(spec.min_ratio()), std::log(spec.max_ratio())));
    window.width = Rounded(std::sqrt(area * ratio));
    window.height = Rounded(std::sqrt(area / ratio));
    if (window.width <= 0 || window.width > width || window.height <= 0 || window.height > height) continue;
    window.top = static_cast<int64_t>(random->Below(height - window.height + 1));
    window.left = static_cast<int64_t>(random->Below(width - window.width + 1));
    return window;
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  const auto side = [](double value) { return std::max<int64_t>(1, Rounded(value)); };
  window.height = ratio < spec.min_ratio() ? side(static_cast<double>(width) / spec.min_ratio()) : height;
  window.width = ratio > spec.max_ratio() ? side(static_cast<double>(height) * spec.max_ratio()) : width;
  window.top = (height - window.height) / 2;
  window.left = (width - window.width) / 2;
  return window;
}

namespace {

// The filter at distances d >= 0.
at::Tensor FilterAt(const at::Tensor& d, ResizeSpec::Filter filter) {
  if (filter != ResizeSpec::BICUBIC) return (1 - d).clamp_min_(0);
  const at::Tensor near = (1.5 * d - 2.5) * d * d + 1;
  const at::Tensor far = ((-0.5 * d + 2.5) * d - 4) * d + 2;
  return at::where(d < 1, near, at::where(d < 2, far, 0.0));
}

// f32 [B, size, length]: the weights of the `length` pixels along one axis for each of `size` new ones. `begin` and
// `extent`, f32 [B, 1, 1], are the windows' first pixels and their lengths.
at::Tensor Weights(const at::Tensor& begin, const at::Tensor& extent, int64_t length, int64_t size,
                   ResizeSpec::Filter filter) {
  const at::Tensor step = extent / static_cast<double>(size);
  const at::Tensor centre = (at::arange(size, begin.options()) + 0.5).view({1, size, 1}) * step;
  const at::Tensor pixel = (at::arange(length, begin.options()) + 0.5).view({1, 1, length}) - begin;
  const at::Tensor weights = FilterAt((pixel - centre).abs_() / step.clamp_min(1), filter);
  const at::Tensor inside = ((pixel > 0) & (pixel < extent)).to(at::kFloat);
  const at::Tensor used = weights * inside;
  return used / used.sum(-1, /*keepdim=*/true);
}

// Whole values within [0, 255], halves up.
at::Tensor Rounded(const at::Tensor& values) { return values.add(0.5).floor_().clamp_(0, 255); }

}  // namespace

at::Tensor PackCropWindows(const std::vector<CropWindow>& windows) {
  std::vector<float> numbers;
  for (const CropWindow& window : windows) {
    for (const int64_t number : {window.top, window.height, window.left, window.width}) {
      numbers.push_back(static_cast<float>(number));
    }
  }
  return at::tensor(numbers).view({-1, 4});
}

CropWindow CropWindowAt(const at::Tensor& windows, int64_t i) {
  const float* const number = windows.const_data_ptr<float>() + 4 * i;
  const auto whole = [](float value) { return static_cast<int64_t>(value); };
  return {whole(number[0]), whole(number[2]), whole(number[1]), whole(number[3])};
}

at::Tensor ResizeCrops(const at::Tensor& images, const at::Tensor& windows, int size, ResizeSpec::Filter filter) {
  const int64_t batch = images.size(0);
  const auto number = windows.view({batch, 4, 1, 1}).unbind(1);
  const at::Tensor columns = Weights(number[0], number[1], images.size(2), size, filter);
  const at::Tensor rows = Weights(number[2], number[3], images.size(3), size, filter);

  const at::NoTF32Guard no_tf32;
  const at::Tensor planes = images.to(at::kFloat).view({batch, -1, images.size(3)});  // [B, C H, W]
  const at::Tensor wide = Rounded(at::bmm(planes, rows.transpose(1, 2)));             // [B, C H, size]
  // [B, H, C size], because the columns are the same for all channels.
  const at::Tensor across =
      wide.view({batch, images.size(1), images.size(2), size}).transpose(1, 2).reshape({batch, images.size(2), -1});
  return Rounded(at::bmm(columns, across))
      .to(at::kByte)
      .view({batch, size, images.size(1), size})
      .transpose(1, 2)
      .contiguous();
}

namespace {

class RandomResizedCrop : public Augmentation {
 public:
  RandomResizedCrop(const RandomResizedCropSpec& spec, int input_size) : spec_(spec), input_size_(input_size) {}

  void Draw(int64_t count, PixelSize size, RandomStream* random, Staging* staging) const override {
    std::vector<CropWindow> windows;
    for (int64_t i = 0; i < count; ++i) windows.push_back(DrawCropWindow(spec_, size.height, size.width, random));
    staging->Add(PackCropWindows(windows));
  }

  at::Tensor ApplyDrawn(const at::Tensor& images, Staging* staging) const override {
    const at::Tensor windows = staging->Next();
    if (!images.is_cpu()) return ResizeCrops(images, windows, input_size_, spec_.filter());
    std::vector<at::Tensor> crops;
    for (int64_t i = 0; i < images.size(0); ++i) {
      crops.push_back(ResizedCrop(images.slice(0, i, i + 1), CropWindowAt(windows, i), input_size_, spec_.filter()));
    }
    return crops.size() == 1 ? crops[0] : at::cat(crops);
  }

  PixelSize SizeAfter(PixelSize /*size*/) const override { return {input_size_, input_size_}; }

  int64_t MostPixels(PixelSize size) const override { return MostPixelsOfResize(size, SizeAfter(size)); }

  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  const RandomResizedCropSpec spec_;
  const int input_size_;
};

}  // namespace

at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size, ResizeSpec::Filter filter) {
  const at::Tensor crop = images.slice(2, window.top, window.top + window.height)
                              .slice(3, window.left, window.left + window.width)
                              .contiguous();
  return Resize(size, filter).Apply(crop, /*random=*/nullptr);
}

std::unique_ptr<Augmentation> Make(const RandomResizedCropSpec& spec, int input_size) {
  return std::make_unique<RandomResizedCrop>(spec, input_size);
}

}  // namespace openset
