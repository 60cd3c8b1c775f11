// Learnable tensors of loss terms.
#ifndef OPENSET_LOSSES_PARAMETERS_H_
#define OPENSET_LOSSES_PARAMETERS_H_

#include <functional>

#include "core/tensor/torch.h"

namespace openset {

// An f32 leaf of this shape on the device. Its elements are draw(), in row-major order, so that a random stream gives
// the same ones everywhere.
at::Tensor DrawParameter(at::IntArrayRef shape, at::Device device, const std::function<double()>& draw);

}  // namespace openset

#endif  // OPENSET_LOSSES_PARAMETERS_H_
