// Disables autocast, for parts of networks that need full precision.
#ifndef OPENSET_CORE_TENSOR_TORCH_PRECISION_H_
#define OPENSET_CORE_TENSOR_TORCH_PRECISION_H_

#include <c10/core/impl/LocalDispatchKeySet.h>  // IWYU pragma: export

#include "core/tensor/torch.h"  // IWYU pragma: export

namespace openset {

// During its lifetime, operations of this thread compute in the types of their tensors, even if autocast is on.
class FullPrecisionScope {
 public:
  FullPrecisionScope() : without_autocast_(c10::autocast_dispatch_keyset) {}

 private:
  const c10::impl::ExcludeDispatchKeyGuard without_autocast_;
};

inline bool IsReduced(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 || tensor.scalar_type() == at::kHalf;
}

// The tensor in f32 if its type has a lower precision; otherwise the tensor itself.
inline at::Tensor WithFullPrecision(const at::Tensor& tensor) {
  return IsReduced(tensor) ? tensor.to(at::kFloat) : tensor;
}

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TORCH_PRECISION_H_
