#include "models/networks/dropout.h"

#include <vector>

#include "core/logging.h"

namespace openset {

at::Tensor Dropout::Forward(const at::Tensor& x) {
  if (!is_training() || probability_ == 0 || x.numel() == 0) return x;
  CHECK(generator_.has_value()) << "dropout without a generator: Model::SetGenerator() comes before training";
  at::Tensor mask;
  if (drops_ == Drops::kElements) {
    mask = at::empty_like(x.detach());
  } else {
    std::vector<int64_t> shape(x.dim(), 1);
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    mask = at::empty(shape, x.options().requires_grad(false));
  }
  mask.bernoulli_(1 - probability_, generator_).div_(1 - probability_);
  return x * mask;
}

}  // namespace openset
