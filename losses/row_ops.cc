#include "losses/row_ops.h"

namespace openset {

at::Tensor AtLabel(const at::Tensor& value, const at::Tensor& label) {
  return value.gather(1, label.unsqueeze(1)).squeeze(1);
}

at::Tensor WeightedMean(const at::Tensor& value, const at::Tensor& weight) {
  const at::Tensor w = weight.to(value.scalar_type());
  const at::Tensor total = w.sum();
  return value.mul(w).sum() / (total + total.eq(0));
}

}  // namespace openset
