// Keeps convolutions from a oneDNN kernel that corrupts memory.
//
// oneDNN 3.10, which LibTorch 2.11 contains, has a kernel for 1x1 convolutions with a stride and without padding in the
// channels-last layout (image or weight), for CPUs with AVX2 and without AVX-512. With fewer than 8 input channels it
// writes beyond one of its buffers when it computes the gradient of the weight. The program crashes, or the numbers are
// wrong. `//core/tensor:convolution_sweep_test` shows that no other convolution is affected.
//
// Linking this is enough: on CPUs without AVX-512 it replaces LibTorch's convolution and its gradients, wherever they
// are called from (our networks, TorchScript, autograd), by the same operations in the contiguous layout for such
// arguments. oneDNN then uses another kernel. Results have the layout that they would have anyway. On CPUs with
// AVX-512, every convolution is computed as LibTorch does.
#ifndef OPENSET_CORE_TENSOR_CONVOLUTION_GUARD_H_
#define OPENSET_CORE_TENSOR_CONVOLUTION_GUARD_H_

#include <cstdint>

namespace openset {

// How many convolutions and gradients this thread has computed in the contiguous layout for this reason.
int64_t GuardedConvolutions();

// Whether oneDNN may use that kernel: on a CPU without AVX-512, or if its environment variable ONEDNN_MAX_CPU_ISA
// (`max_cpu_isa`, null if not set) forbids AVX-512.
bool MayCorruptConvolutions(bool has_avx512, const char* max_cpu_isa);

// The same, on this CPU and with this process's environment.
bool ConvolutionsAreGuarded();

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_CONVOLUTION_GUARD_H_
