// ApplyPixelOps() on a GPU: a block applies all operations of an image, one after the other. Compiled with -fmad=false,
// so that products and sums are rounded one by one, as on the CPU. pixel_ops_kernel_test.cc compiles the kernel for the
// CPU, without its launch.
#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

#include "data/augment/pixels/pixel_op.h"
#include "data/augment/pixels/pixel_ops_kernel.h"

namespace openset {
namespace {

#ifdef __CUDACC__
constexpr int kThreads = 256;
#else
constexpr int kThreads = 1;
#endif

__device__ void MapLevels(const PixelOp& op, const PixelImage& image, uint8_t* result) {
  __shared__ PixelStatistics statistics;
  __shared__ uint8_t table[kMostPixelChannels][kPixelLevels];
  const int pixels = image.height * image.width;
  const int values = image.channels * pixels;
  if (threadIdx.x == 0) statistics.grey_sum = 0;
  for (int c = 0; c < image.channels; ++c) {
    for (int p = threadIdx.x; p <= kPixelLevels; p += kThreads) statistics.channel[c].below[p] = 0;
  }
  __syncthreads();
  if (NeedsHistogram(op.kind)) {
    for (int i = threadIdx.x; i < values; i += kThreads) {
      atomicAdd(&statistics.channel[i / pixels].below[image.pixels[i] + 1], 1);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < image.channels; c += kThreads) statistics.channel[c].Accumulate();
  } else if (op.kind == PixelOpKind::kContrast) {
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < pixels; i += kThreads) sum += Grey(image, i / image.width, i % image.width);
    atomicAdd(&statistics.grey_sum, sum);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < image.channels * kPixelLevels; i += kThreads) {
    table[i / kPixelLevels][i % kPixelLevels] = LevelAfter(op, statistics, image, i / kPixelLevels, i % kPixelLevels);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < values; i += kThreads) result[i] = table[i / pixels][image.pixels[i]];
}

__device__ void ApplyOp(const PixelOp& op, const PixelImage& image, uint8_t* result) {
  if (MapsLevels(op.kind)) {
    MapLevels(op, image, result);
    return;
  }
  for (int i = threadIdx.x; i < image.height * image.width; i += kThreads) {
    PixelAfter(op.kind, op, /*shifted_from=*/nullptr, image, i / image.width, i % image.width, result + i);
  }
}

__global__ void __launch_bounds__(kThreads) ApplyOps(PixelOpsLaunch all) {
  const int64_t bytes = int64_t{all.channels} * all.height * all.width;
  const int64_t begin = blockIdx.x * bytes;
  const PixelOp* const ops = reinterpret_cast<const PixelOp*>(all.ops) + int64_t{blockIdx.x} * all.ops_of_image;
  PixelImage image = {all.images + begin, all.channels, all.height, all.width};
  // An operation reads one buffer and writes another one; the last of them writes the result. At least one is applied.
  const int count = all.ops_of_image > 0 ? all.ops_of_image : 1;
  for (int i = 0; i < count; ++i) {
    uint8_t* const target = ((count - i) % 2 == 1 ? all.result : all.spare) + begin;
    ApplyOp(all.ops_of_image > 0 ? ops[i] : PixelOp(), image, target);
    __syncthreads();
    image.pixels = target;
  }
}

}  // namespace

#ifdef __CUDACC__
extern "C" int OpensetLaunchPixelOps(const PixelOpsLaunch* launch) {
  ApplyOps<<<launch->batch, kThreads, 0, static_cast<cudaStream_t>(launch->stream)>>>(*launch);
  return cudaGetLastError();
}
#endif

}  // namespace openset
