#include "data/augment/resize.h"

#include <algorithm>

namespace openset {

using Filter = ResizeSpec::Filter;

namespace {

// Whole values in f32. Bicubic weights may be negative, so that values leave [0, 255].
at::Tensor ResizeValues(const at::Tensor& images, int64_t height, int64_t width, Filter filter) {
  const at::Tensor values = filter == ResizeSpec::BICUBIC
                                ? at::_upsample_bicubic2d_aa(images, {height, width}, /*align_corners=*/false)
                                : at::_upsample_bilinear2d_aa(images, {height, width}, /*align_corners=*/false);
  return values.add_(0.5).floor_().clamp_(0, 255);
}

// u8, rows first, each rounded.
at::Tensor ResizeTo(const at::Tensor& images, int64_t height, int64_t width, Filter filter) {
  if (images.size(2) == height && images.size(3) == width) return images;
  const at::Tensor wide = ResizeValues(images.to(at::kFloat), images.size(2), width, filter);
  return ResizeValues(wide, height, width, filter).to(at::kByte);
}

class ResizeShorterSide : public Augmentation {
 public:
  ResizeShorterSide(int64_t shorter_side, Filter filter) : shorter_side_(shorter_side), filter_(filter) {}

  at::Tensor Apply(const at::Tensor& images, RandomStream* /*random*/) const override {
    const int64_t height = images.size(2), width = images.size(3);
    const int64_t longer = shorter_side_ * std::max(height, width) / std::min(height, width);
    return width <= height ? ResizeTo(images, longer, shorter_side_, filter_)
                           : ResizeTo(images, shorter_side_, longer, filter_);
  }

  SizeEffect size_effect() const override { return SizeEffect::kChanges; }

 private:
  const int64_t shorter_side_;
  const Filter filter_;
};

}  // namespace

at::Tensor Resize::Apply(const at::Tensor& images, RandomStream* /*random*/) const {
  return ResizeTo(images, size_, size_, filter_);
}

std::unique_ptr<Augmentation> MakeResizeShorterSide(int shorter_side, Filter filter) {
  return std::make_unique<ResizeShorterSide>(shorter_side, filter);
}

}  // namespace openset
