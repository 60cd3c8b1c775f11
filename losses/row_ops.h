// Operations on the rows of a batch that several terms share.
#ifndef OPENSET_LOSSES_ROW_OPS_H_
#define OPENSET_LOSSES_ROW_OPS_H_

#include <functional>

#include "core/tensor/torch.h"

namespace openset {

// The value of each row at its label: [B, K], i64 [B] -> [B].
at::Tensor AtLabel(const at::Tensor& value, const at::Tensor& label);
// -AtLabel(), in one operation.
at::Tensor MinusAtLabel(const at::Tensor& value, const at::Tensor& label);

// The largest value of each row; the gradient flows into the first of equal ones: [B, K] -> [B].
at::Tensor LargestOf(const at::Tensor& value);
// -LargestOf(), in two operations.
at::Tensor MinusLargestOf(const at::Tensor& value);

// `value` with `fill` at each row's label: [B, K], i64 [B] -> [B, K].
at::Tensor WithoutLabel(const at::Tensor& value, const at::Tensor& label, double fill);

// The rows at these positions, which may occur repeatedly: [N, D], i64 [M] -> [M, D].
at::Tensor RowsAt(const at::Tensor& rows, const at::Tensor& index);

// Means with the same weights: sum(weight * value) / sum(weight), and 0 with gradient 0 if no weight is positive. [N],
// [N] -> scalar. Preconditions: values are finite and of the weights' type, weights are not negative.
class WeightedMeans {
 public:
  explicit WeightedMeans(const at::Tensor& weight)
      : weight_(weight), total_(weight.sum()), divisor_(total_ + total_.eq(0)) {}

  const at::Tensor& total() const { return total_; }
  at::Tensor Of(const at::Tensor& value) const { return value.mul(weight_).sum() / divisor_; }

 private:
  const at::Tensor weight_, total_, divisor_;
};

// One such mean, for weights of any type.
at::Tensor WeightedMean(const at::Tensor& value, const at::Tensor& weight);

// ---- Learnable tensors of loss terms.

// An f32 leaf of this shape on the device. Calls draw() for each element, in row-major order and on the CPU, so a
// random stream gives the same values on every device.
at::Tensor DrawParameter(at::IntArrayRef shape, at::Device device, const std::function<double()>& draw);

}  // namespace openset

#endif  // OPENSET_LOSSES_ROW_OPS_H_
