// LibTorch's ordered dictionary, which needs no other part of LibTorch.
#ifndef OPENSET_CORE_TENSOR_TORCH_DICT_H_
#define OPENSET_CORE_TENSOR_TORCH_DICT_H_

#include <torch/ordered_dict.h>  // IWYU pragma: export

#endif  // OPENSET_CORE_TENSOR_TORCH_DICT_H_
