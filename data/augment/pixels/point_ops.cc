#include "data/augment/pixels/point_ops.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/logging.h"
#include "data/augment/per_image.h"

namespace openset {
namespace {

// 255 - p where `inverted` (bool) is true.
at::Tensor InvertWhere(const at::Tensor& inverted, const at::Tensor& images) {
  return images.bitwise_xor(inverted.to(at::kByte).neg_());  // 255 - p flips all bits; -1 is 255
}

}  // namespace

at::Tensor Invert(const at::Tensor& images) { return images.bitwise_not(); }

at::Tensor Posterize(const at::Tensor& images, absl::Span<const double> bits) {
  std::vector<double> masks(bits.size());
  std::transform(bits.begin(), bits.end(), masks.begin(), [](double kept) {
    CHECK(kept >= 1 && kept <= 8) << kept << " bits";
    return 256 - std::exp2(8 - std::floor(kept));
  });
  return images.bitwise_and(PerImage(masks, at::kByte, images));
}

at::Tensor Solarize(const at::Tensor& images, absl::Span<const double> thresholds) {
  std::vector<double> lowest(thresholds.size());  // the lowest value that is inverted
  std::transform(thresholds.begin(), thresholds.end(), lowest.begin(),
                 [](double threshold) { return std::ceil(std::min(std::max(threshold, 0.0), 256.0)); });
  return InvertWhere(images >= PerImage(lowest, at::kShort, images), images);
}

at::Tensor SolarizeAdd(const at::Tensor& images, absl::Span<const double> additions) {
  // In double as in the released code: p + 32.999999999999996 may be p + 33.
  const at::Tensor sums = (images + PerImage(additions, at::kDouble, images)).clamp_max_(255).to(at::kByte);
  return InvertWhere(sums >= 128, sums);
}

}  // namespace openset
