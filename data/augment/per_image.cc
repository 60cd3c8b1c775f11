#include "data/augment/per_image.h"

#include "core/logging.h"
#include "core/tensor/to_device.h"

namespace openset {

at::Tensor PerImage(absl::Span<const double> values, at::ScalarType dtype, const at::Tensor& images) {
  CHECK_EQ(values.size(), images.size(0)) << "one value per image";
  const at::Tensor host = at::tensor(at::ArrayRef<double>(values.data(), values.size()), at::kDouble);
  return ToDevice(host.view({-1, 1, 1, 1}).to(dtype), images.device());
}

}  // namespace openset
