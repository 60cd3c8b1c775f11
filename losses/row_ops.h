// Operations on the rows of a batch that several terms share.
#ifndef OPENSET_LOSSES_ROW_OPS_H_
#define OPENSET_LOSSES_ROW_OPS_H_

#include "core/tensor/torch.h"

namespace openset {

// The value of each row at its label: [B, K], i64 [B] -> [B].
at::Tensor AtLabel(const at::Tensor& value, const at::Tensor& label);

// The largest value of each row; the gradient flows into the first of equal ones: [B, K] -> [B].
at::Tensor LargestOf(const at::Tensor& value);

// sum(weight * value) / sum(weight), and 0 with gradient 0 if no weight is positive: [N], [N] -> scalar.
// Preconditions: values are finite, weights are not negative.
at::Tensor WeightedMean(const at::Tensor& value, const at::Tensor& weight);

}  // namespace openset

#endif  // OPENSET_LOSSES_ROW_OPS_H_
