#include "data/augment/resize.h"

namespace openset {
namespace {

// Whole values in f32. They stay within [0, 255]: means do, and f32's error is far below 1/2.
at::Tensor ResizeTo(const at::Tensor& images, int64_t height, int64_t width) {
  return at::_upsample_bilinear2d_aa(images, {height, width}, /*align_corners=*/false).add_(0.5).floor_();
}

}  // namespace

at::Tensor Resize::Apply(const at::Tensor& images, RandomStream* /*random*/) const {
  const int64_t height = images.size(2);
  if (height == size_ && images.size(3) == size_) return images;
  const at::Tensor wide = ResizeTo(images.to(at::kFloat), height, size_);
  return ResizeTo(wide, size_, size_).to(at::kByte);
}

}  // namespace openset
