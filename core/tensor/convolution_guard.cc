#include "core/tensor/convolution_guard.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <tuple>

#include "core/tensor/torch.h"
#include "core/tensor/torch_library.h"

namespace openset {
namespace {

// oneDNN's kernels for AVX2 work on 8 channels at once.
constexpr int64_t kFewestSafeChannels = 8;

thread_local int64_t guarded_convolutions = 0;

// oneDNN's condition for its kernels for AVX-512.
bool HasAvx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

// Convolutions with padding, transposed and grouped ones have other kernels.
bool NeedsGuard(const at::Tensor& input, const at::Tensor& weight, at::IntArrayRef stride, at::IntArrayRef padding,
                bool transposed, int64_t groups) {
  return ConvolutionsAreGuarded() && !transposed && groups == 1 && weight.dim() == 4 && weight.size(2) == 1 &&
         weight.size(3) == 1 && weight.size(1) < kFewestSafeChannels &&
         std::any_of(stride.begin(), stride.end(), [](int64_t step) { return step != 1; }) &&
         std::all_of(padding.begin(), padding.end(), [](int64_t pixels) { return pixels == 0; }) &&
         input.scalar_type() == at::kFloat;
}

bool IsChannelsLast(const at::Tensor& tensor) {
  return tensor.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
}

// Also with one channel, where the layouts differ only in their strides: they decide which kernel is used.
at::Tensor CopyIn(at::MemoryFormat layout, const at::Tensor& tensor) {
  return tensor.defined() ? at::empty(tensor.sizes(), tensor.options().memory_format(layout)).copy_(tensor) : tensor;
}

constexpr at::MemoryFormat kContiguous = at::MemoryFormat::Contiguous;
constexpr at::MemoryFormat kChannelsLast = at::MemoryFormat::ChannelsLast;

at::Tensor Convolution(const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                       at::IntArrayRef output_padding, int64_t groups, bool benchmark, bool deterministic,
                       bool cudnn_enabled, bool allow_tf32) {
  const auto compute = [&](const at::Tensor& image, const at::Tensor& kernel) {
    return at::compositeexplicitautograd::_convolution(image, kernel, bias, stride, padding, dilation, transposed,
                                                       output_padding, groups, benchmark, deterministic, cudnn_enabled,
                                                       allow_tf32);
  };
  if (!NeedsGuard(input, weight, stride, padding, transposed, groups)) return compute(input, weight);
  if (!IsChannelsLast(input) && !IsChannelsLast(weight)) return compute(input, weight);
  ++guarded_convolutions;
  return CopyIn(kChannelsLast, compute(CopyIn(kContiguous, input), CopyIn(kContiguous, weight)));
}

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

Gradients ConvolutionBackward(const at::Tensor& grad_output, const at::Tensor& input, const at::Tensor& weight,
                              at::OptionalIntArrayRef bias_sizes, at::IntArrayRef stride, at::IntArrayRef padding,
                              at::IntArrayRef dilation, bool transposed, at::IntArrayRef output_padding, int64_t groups,
                              std::array<bool, 3> wanted) {
  const auto compute = [&](const at::Tensor& gradient, const at::Tensor& image, const at::Tensor& kernel) {
    return at::compositeexplicitautograd::convolution_backward(gradient, image, kernel, bias_sizes, stride, padding,
                                                               dilation, transposed, output_padding, groups, wanted);
  };
  if (!NeedsGuard(input, weight, stride, padding, transposed, groups)) return compute(grad_output, input, weight);
  if (!IsChannelsLast(input) && !IsChannelsLast(weight)) return compute(grad_output, input, weight);
  ++guarded_convolutions;
  const auto [image, kernel, bias] =
      compute(CopyIn(kContiguous, grad_output), CopyIn(kContiguous, input), CopyIn(kContiguous, weight));
  return {CopyIn(kChannelsLast, image), CopyIn(kChannelsLast, kernel), bias};
}

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("_convolution", Convolution);
  library.impl("convolution_backward", ConvolutionBackward);
}

}  // namespace

int64_t GuardedConvolutions() { return guarded_convolutions; }

bool MayCorruptConvolutions(bool has_avx512, const char* max_cpu_isa) {
  if (!has_avx512) return true;
  if (max_cpu_isa != nullptr && std::strcmp(max_cpu_isa, "DEFAULT") == 0) return false;
  return max_cpu_isa != nullptr && std::strncmp(max_cpu_isa, "AVX512_CORE", std::strlen("AVX512_CORE")) != 0;
}

bool ConvolutionsAreGuarded() {
  static const bool guarded = MayCorruptConvolutions(HasAvx512(), std::getenv("ONEDNN_MAX_CPU_ISA"));
  return guarded;
}

}  // namespace openset
