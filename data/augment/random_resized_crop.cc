#include "data/augment/random_resized_crop.h"

#include <cmath>
#include <vector>

#include "data/augment/resize.h"

namespace openset {
namespace {

constexpr int kAttempts = 10;

int64_t Rounded(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

class RandomResizedCrop : public Augmentation {
 public:
  RandomResizedCrop(const RandomResizedCropSpec& spec, int input_size) : spec_(spec), input_size_(input_size) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* random) const override {
    std::vector<at::Tensor> crops;
    for (int64_t i = 0; i < images.size(0); ++i) {
      const CropWindow window = DrawCropWindow(spec_, images.size(2), images.size(3), random);
      crops.push_back(ResizedCrop(images.slice(0, i, i + 1), window, input_size_, spec_.filter()));
    }
    return crops.size() == 1 ? crops[0] : at::cat(crops);
  }

  SizeEffect size_effect() const override { return SizeEffect::kFixes; }

 private:
  const RandomResizedCropSpec spec_;
  const int input_size_;
};

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
  window.height = ratio < spec.min_ratio() ? Rounded(static_cast<double>(width) / spec.min_ratio()) : height;
  window.width = ratio > spec.max_ratio() ? Rounded(static_cast<double>(height) * spec.max_ratio()) : width;
  window.top = (height - window.height) / 2;
  window.left = (width - window.width) / 2;
  return window;
}

at::Tensor ResizedCrop(const at::Tensor& images, const CropWindow& window, int size, ResizeSpec::Filter filter) {
  const at::Tensor crop = images.slice(2, window.top, window.top + window.height)
                              .slice(3, window.left, window.left + window.width)
                              .contiguous();
  return Resize(size, filter).Apply(crop, /*random=*/nullptr);
}

std::unique_ptr<Augmentation> MakeRandomResizedCrop(const RandomResizedCropSpec& spec, int input_size) {
  return std::make_unique<RandomResizedCrop>(spec, input_size);
}

}  // namespace openset
