// Two GPUs simulated in host memory, for tests.
#ifndef OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_
#define OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_

#include <cstdint>

#include "core/tensor/testing/gpu_work.h"
#include "core/tensor/torch_device.h"

namespace openset {

// Two GPUs made of the host's memory, "cuda:0" and "cuda:1", for tests on machines without one.
//
// To use them, link this into a binary without LibTorch's CUDA libraries. It registers an allocator, a device guard,
// generators, pinned memory and operations in place of theirs, so that LibTorch, and all code that asks for at::kCUDA
// or is_cuda(), treats it as CUDA. Each operation runs LibTorch's CPU kernel on the device's memory. Results are
// therefore bit-identical to the CPU's if both use the same operations. Generators draw the same numbers as the CPU's.
//
// Mistakes that fail on a GPU fail here too:
//   * Reading or writing a device's memory from the host crashes at that line.
//   * An operation on tensors of two devices throws, except what CUDA takes from the CPU: tensors without dimensions,
//     and indices.
//   * An asynchronous copy to the device reads its pinned source when the stream's next operation begins, or when the
//     host waits for it. One to the host delivers when the host waits; until then its target is full of NaN (0xff).
//   * An asynchronous copy belongs to a stream: operations on other streams don't see its values before they wait for
//     an event after it. An operation on a tensor that another stream than the default one allocated throws, unless
//     record_stream() was called for it.
//   * Operations without a deterministic form on CUDA throw if LibTorch is set to use only deterministic ones.

// In bytes: in use by tensors, and kept for later ones.
int64_t GpuMemoryInUse();
int64_t GpuMemoryKept();

}  // namespace openset

#endif  // OPENSET_CORE_TENSOR_TESTING_MEMORY_GPU_H_
