#include "models/networks/dropout.h"

#include <cstdint>
#include <vector>

#include "core/logging.h"
#include "core/tensor/torch_precision.h"

namespace openset {

at::Tensor Dropout::Factor(const at::Tensor& x) {
  if (!IsOn() || x.numel() == 0) return {};
  CHECK(generator_.has_value()) << "dropout without a generator: Model::SetGenerator() comes before training";
  const at::TensorOptions options = x.options().requires_grad(false).dtype(IsReduced(x) ? at::kFloat : x.scalar_type());
  at::Tensor mask;
  if (drops_ == Drops::kElements) {
    mask = at::empty_like(x.detach(), options);
  } else {
    std::vector<int64_t> shape(x.dim(), 1);
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    mask = at::empty(shape, options);
  }
  return mask.bernoulli_(1 - probability_, generator_).div_(1 - probability_);
}

at::Tensor Dropout::Forward(const at::Tensor& x) {
  const at::Tensor factor = Factor(x);
  if (!factor.defined()) return x;
  const at::Tensor kept = x * factor;
  return IsReduced(x) ? kept.to(x.scalar_type()) : kept;
}

}  // namespace openset
