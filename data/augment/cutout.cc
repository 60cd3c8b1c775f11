#include "data/augment/cutout.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/logging.h"
#include "core/tensor/to_device.h"
#include "data/augment/per_image.h"

namespace openset {
namespace {

// Which of the `extent` columns (rows) of each image the square covers: bool [B, 1, 1, extent].
at::Tensor Covered(const at::Tensor& images, int64_t extent, absl::Span<const double> sizes,
                   absl::Span<const double> centres) {
  CHECK_EQ(sizes.size(), centres.size());
  std::vector<double> first(sizes.size());
  std::vector<double> last(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    first[i] = std::trunc(std::max(0.0, centres[i] - sizes[i] / 2));
    last[i] = std::trunc(std::min<double>(extent, first[i] + sizes[i]));
  }
  const at::Tensor places = at::arange(extent, images.options().dtype(at::kLong));
  return (places >= PerImage(first, at::kLong, images)).logical_and_(places <= PerImage(last, at::kLong, images));
}

at::Tensor Colour(const at::Tensor& images) {
  if (images.size(1) == 1) return at::full({1, 1, 1, 1}, 123, images.options());
  CHECK_EQ(images.size(1), 3) << "channels";
  return ToDevice(at::tensor({125, 123, 114}, at::kByte).view({1, 3, 1, 1}), images.device());
}

}  // namespace

at::Tensor Cutout(const at::Tensor& images, absl::Span<const double> sizes, absl::Span<const double> centre_x,
                  absl::Span<const double> centre_y) {
  const at::Tensor columns = Covered(images, images.size(3), sizes, centre_x);
  const at::Tensor rows = Covered(images, images.size(2), sizes, centre_y).transpose(2, 3);
  return at::where(rows.logical_and(columns), Colour(images), images);
}

}  // namespace openset
