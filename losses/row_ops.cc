#include "losses/row_ops.h"

#include <cstdint>

namespace openset {

at::Tensor AtLabel(const at::Tensor& value, const at::Tensor& label) { return -MinusAtLabel(value, label); }

at::Tensor MinusAtLabel(const at::Tensor& value, const at::Tensor& label) {
  // On a GPU, the gradient of gather() takes about 20 kernels, because gather() may read an element twice.
  return at::nll_loss(value, label, /*weight=*/{}, at::Reduction::None);
}

at::Tensor LargestOf(const at::Tensor& value) { return -MinusLargestOf(value); }

// Not by max(), whose gradient is gather()'s.
at::Tensor MinusLargestOf(const at::Tensor& value) { return MinusAtLabel(value, value.detach().argmax(1)); }

// As the gradients of gather(), scatter() and index_select() take 16 to 20 kernels, too.
at::Tensor WithoutLabel(const at::Tensor& value, const at::Tensor& label, double fill) {
  const at::Tensor every = at::arange(value.size(1), label.options());
  return value.masked_fill(label.unsqueeze(1).eq(every), fill);
}

at::Tensor RowsAt(const at::Tensor& rows, const at::Tensor& index) { return at::embedding(rows, index); }

at::Tensor WeightedMean(const at::Tensor& value, const at::Tensor& weight) {
  return WeightedMeans(weight.to(value.scalar_type())).Of(value);
}

at::Tensor DrawParameter(at::IntArrayRef shape, at::Device device, const std::function<double()>& draw) {
  const at::Tensor values = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) values.mutable_data_ptr<double>()[i] = draw();
  return values.to(device, at::kFloat).set_requires_grad(true);
}

}  // namespace openset
