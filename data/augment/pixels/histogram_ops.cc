#include "data/augment/pixels/histogram_ops.h"

namespace openset {
namespace {

// Maps value p of channel c of image b to tables[b, c, p] (u8 [B, C, 256]).
at::Tensor ApplyTables(const at::Tensor& images, const at::Tensor& tables) {
  return tables.gather(2, images.flatten(2).to(at::kLong)).view(images.sizes());
}

// How often channel c of image b has the value p: i64 [B, C, 256].
at::Tensor Histograms(const at::Tensor& images) {
  const int64_t channels = images.size(0) * images.size(1);
  const at::Tensor first_bins = at::arange(channels, images.options().dtype(at::kLong)).mul_(256).unsqueeze(1);
  return at::bincount((images.reshape({channels, -1}) + first_bins).flatten(), /*weights=*/{}, channels * 256)
      .view({images.size(0), images.size(1), 256});
}

at::Tensor Levels(const at::Tensor& images, at::ScalarType dtype) {
  return at::arange(256, images.options().dtype(dtype));
}

}  // namespace

at::Tensor AutoContrast(const at::Tensor& images) {
  const at::Tensor lowest = images.amin({2, 3}).to(at::kDouble).unsqueeze(2);
  const at::Tensor highest = images.amax({2, 3}).to(at::kDouble).unsqueeze(2);
  const at::Tensor levels = Levels(images, at::kDouble);
  const at::Tensor scale = at::full_like(highest, 255).div_(highest - lowest);  // 255 / x is a product in ATen
  const at::Tensor stretched = (levels * scale).add_(-lowest * scale).clamp_(0, 255);
  return ApplyTables(images, at::where(highest > lowest, stretched, levels).to(at::kByte));
}

at::Tensor Equalize(const at::Tensor& images) {
  const at::Tensor histograms = Histograms(images);
  const at::Tensor highest = images.amax({2, 3}).to(at::kLong).unsqueeze(2);
  const at::Tensor pixels = histograms.gather(2, highest).neg_().add_(images.size(2) * images.size(3));
  const at::Tensor step = pixels.floor_divide(255);
  const at::Tensor below = histograms.cumsum(2) - histograms;
  const at::Tensor spread = (below + step.floor_divide(2)).floor_divide(step.clamp_min(1)).clamp_max_(255);
  return ApplyTables(images, at::where(step > 0, spread, Levels(images, at::kLong)).to(at::kByte));
}

}  // namespace openset
