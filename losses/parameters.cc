#include "losses/parameters.h"

#include <cstdint>

namespace openset {

at::Tensor DrawParameter(at::IntArrayRef shape, at::Device device, const std::function<double()>& draw) {
  const at::Tensor values = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) values.mutable_data_ptr<double>()[i] = draw();
  return values.to(device, at::kFloat).set_requires_grad(true);
}

}  // namespace openset
