// Generators of random tensors with an owner, so that their draws don't depend on other code.
#ifndef OPENSET_CORE_TENSOR_TORCH_GENERATOR_H_
#define OPENSET_CORE_TENSOR_TORCH_GENERATOR_H_

#include <ATen/CPUGeneratorImpl.h>                  // IWYU pragma: export
#include <ATen/core/Generator.h>                    // IWYU pragma: export
#include <ATen/detail/AcceleratorHooksInterface.h>  // IWYU pragma: export

#include <cstdint>
#include <utility>

#include "core/tensor/torch.h"  // IWYU pragma: export

namespace openset {

// Returns a LibTorch generator for tensors on `device`. It draws the same numbers as LibTorch's default generator after
// at::manual_seed(seed).
inline at::Generator MakeGenerator(at::Device device, uint64_t seed) {
  at::Generator generator =
      device.is_cpu() ? at::detail::createCPUGenerator()
                      : at::globalContext().getAcceleratorHooksInterface(device.type()).getNewGenerator(device.index());
  generator.set_current_seed(seed);
  return generator;
}

// During its lifetime, LibTorch's default generator of the device is `own`, for code that uses only the default one
// (TorchScript).
class DefaultGeneratorScope {
 public:
  explicit DefaultGeneratorScope(at::Generator own)
      : own_(std::move(own)),
        default_(at::globalContext().defaultGenerator(own_.device())),
        outside_(default_.get_state()) {
    default_.set_state(own_.get_state());
  }
  ~DefaultGeneratorScope() {
    own_.set_state(default_.get_state());
    default_.set_state(outside_);
  }
  DefaultGeneratorScope(const DefaultGeneratorScope&) = delete;
  DefaultGeneratorScope& operator=(const DefaultGeneratorScope&) = delete;

 private:
  at::Generator own_;
  at::Generator default_;
  const at::Tensor outside_;
};

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TORCH_GENERATOR_H_
