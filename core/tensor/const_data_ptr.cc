// TensorBase::const_data_ptr<T>() for the types that we use. LibTorch 2.11 exports them and 2.12 does not, so that a
// worker without them would start with the former only (third_party/README.md).
#include <cstdint>

#include "core/tensor/torch_tensor_base.h"

namespace at {
namespace {

template <typename T>
const T* ConstData(const TensorBase& tensor) {
  constexpr auto kType = c10::CppTypeToScalarType<T>::value;
  TORCH_CHECK(tensor.scalar_type() == kType, "expected scalar type ", kType, " but found ", tensor.scalar_type());
  return static_cast<const T*>(tensor.const_data_ptr());
}

}  // namespace

template <>
const bool* TensorBase::const_data_ptr<bool, 0>() const {
  return ConstData<bool>(*this);
}
template <>
const float* TensorBase::const_data_ptr<float, 0>() const {
  return ConstData<float>(*this);
}
template <>
const uint8_t* TensorBase::const_data_ptr<uint8_t, 0>() const {
  return ConstData<uint8_t>(*this);
}
template <>
const int64_t* TensorBase::const_data_ptr<int64_t, 0>() const {
  return ConstData<int64_t>(*this);
}

}  // namespace at
