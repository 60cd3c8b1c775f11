// For const_data_ptr.cc, which defines functions of it that torch.h would use before.
#ifndef OPENSET_CORE_TENSOR_TORCH_TENSOR_BASE_H_
#define OPENSET_CORE_TENSOR_TORCH_TENSOR_BASE_H_

#include <ATen/core/TensorBase.h>  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_TENSOR_BASE_H_
