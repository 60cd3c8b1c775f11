#include "data/augment/crop_window.h"

#include <algorithm>
#include <cmath>

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

}  // namespace openset
