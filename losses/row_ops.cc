#include "losses/row_ops.h"

namespace openset {

at::Tensor AtLabel(const at::Tensor& value, const at::Tensor& label) {
  // On a GPU, the gradient of gather() takes about 20 kernels, because gather() may read an element twice.
  return -at::nll_loss(value, label, /*weight=*/{}, at::Reduction::None);
}

// Not by max(), whose gradient is gather()'s.
at::Tensor LargestOf(const at::Tensor& value) { return AtLabel(value, value.detach().argmax(1)); }

at::Tensor WeightedMean(const at::Tensor& value, const at::Tensor& weight) {
  const at::Tensor w = weight.to(value.scalar_type());
  const at::Tensor total = w.sum();
  return value.mul(w).sum() / (total + total.eq(0));
}

}  // namespace openset
