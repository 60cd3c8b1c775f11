#include "data/augment/pixels/enhance_ops.h"

#include "core/logging.h"
#include "data/augment/per_image.h"

namespace openset {
namespace {

// i32 [B, 1, H, W].
at::Tensor Grey(const at::Tensor& images) {
  if (images.size(1) == 1) return images.to(at::kInt);
  CHECK_EQ(images.size(1), 3) << "channels";
  const at::Tensor wide = images.to(at::kInt);
  return (wide.narrow(1, 0, 1) * 19595)
      .add_(wide.narrow(1, 1, 1) * 38470)
      .add_(wide.narrow(1, 2, 1) * 7471)
      .add_(32768)
      .bitwise_right_shift_(16);
}

// `degenerate` is f32 of whole numbers, broadcastable to the images. Multiplied and added in two steps: one fused
// operation would round differently.
at::Tensor Blend(const at::Tensor& degenerate, const at::Tensor& images, absl::Span<const double> factors) {
  return (images - degenerate)
      .mul_(PerImage(factors, at::kFloat, images))
      .add_(degenerate)
      .clamp_(0, 255)
      .to(at::kByte);
}

// f32 of whole numbers.
at::Tensor Smooth(const at::Tensor& images) {
  at::Tensor smooth = images.to(at::kFloat);
  const int64_t height = images.size(2) - 2;
  const int64_t width = images.size(3) - 2;
  if (height < 1 || width < 1) return smooth;
  const at::Tensor columns = smooth.narrow(2, 0, height) + smooth.narrow(2, 1, height) + smooth.narrow(2, 2, height);
  const at::Tensor squares = columns.narrow(3, 0, width) + columns.narrow(3, 1, width) + columns.narrow(3, 2, width);
  const at::Tensor middle = smooth.narrow(2, 1, height).narrow(3, 1, width);
  // Thirteenths are never halves, so no rounding error of the division changes the result.
  const at::Tensor inner = (squares + middle * 4).div_(13).add_(0.5).floor_();
  middle.copy_(inner);
  return smooth;
}

}  // namespace

at::Tensor EnhanceColor(const at::Tensor& images, absl::Span<const double> factors) {
  return Blend(Grey(images).to(at::kFloat), images, factors);
}

at::Tensor EnhanceContrast(const at::Tensor& images, absl::Span<const double> factors) {
  const int64_t pixels = images.size(2) * images.size(3);
  const at::Tensor sums = Grey(images).sum({1, 2, 3}, /*keepdim=*/true, at::kLong);
  const at::Tensor means = sums.mul_(2).add_(pixels).floor_divide_(2 * pixels);
  return Blend(means.to(at::kFloat), images, factors);
}

at::Tensor EnhanceBrightness(const at::Tensor& images, absl::Span<const double> factors) {
  return Blend(at::zeros({1}, images.options().dtype(at::kFloat)), images, factors);
}

at::Tensor EnhanceSharpness(const at::Tensor& images, absl::Span<const double> factors) {
  return Blend(Smooth(images), images, factors);
}

}  // namespace openset
