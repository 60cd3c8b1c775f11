#include "data/augment/per_image.h"

#include "core/logging.h"

namespace openset {

at::Tensor PerImage(absl::Span<const double> values, at::ScalarType dtype, const at::Tensor& images) {
  CHECK_EQ(values.size(), images.size(0)) << "one value per image";
  return at::tensor(at::ArrayRef<double>(values.data(), values.size()), at::kDouble)
      .view({-1, 1, 1, 1})
      .to(dtype)
      .to(images.device());
}

}  // namespace openset
