#include "data/augment/resize.h"

#include <algorithm>

namespace openset {
namespace {

// Whole values in f32. They stay within [0, 255]: means do, and f32's error is far below 1/2.
at::Tensor ResizeValues(const at::Tensor& images, int64_t height, int64_t width) {
  return at::_upsample_bilinear2d_aa(images, {height, width}, /*align_corners=*/false).add_(0.5).floor_();
}

// u8, rows first, each rounded.
at::Tensor ResizeTo(const at::Tensor& images, int64_t height, int64_t width) {
  if (images.size(2) == height && images.size(3) == width) return images;
  const at::Tensor wide = ResizeValues(images.to(at::kFloat), images.size(2), width);
  return ResizeValues(wide, height, width).to(at::kByte);
}

class ResizeShorterSide : public Augmentation {
 public:
  explicit ResizeShorterSide(int64_t shorter_side) : shorter_side_(shorter_side) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* /*random*/) const override {
    const int64_t height = images.size(2), width = images.size(3);
    const int64_t longer = shorter_side_ * std::max(height, width) / std::min(height, width);
    return width <= height ? ResizeTo(images, longer, shorter_side_) : ResizeTo(images, shorter_side_, longer);
  }

  SizeEffect size_effect() const override { return SizeEffect::kChanges; }

 private:
  const int64_t shorter_side_;
};

}  // namespace

at::Tensor Resize::Apply(const at::Tensor& images, RandomStream* /*random*/) const {
  return ResizeTo(images, size_, size_);
}

std::unique_ptr<Augmentation> MakeResizeShorterSide(int shorter_side) {
  return std::make_unique<ResizeShorterSide>(shorter_side);
}

}  // namespace openset
