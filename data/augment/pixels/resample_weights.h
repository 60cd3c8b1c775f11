// The weights of LibTorch's antialiased resizing.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_

#include <cstdint>
#include <memory>

#include "core/tensor/torch.h"
#include "data/augment/augment.pb.h"
#include "data/augment/pixels/resample.h"

namespace openset {

// LibTorch's own: f32 [B, C, H, W] -> f32 [B, C, height, width].
at::Tensor ResizeByLibTorch(const at::Tensor& images, int64_t height, int64_t width, ResizeSpec::Filter filter);

// The weights by which ResizeByLibTorch makes `out` pixels of `in`, to the last bit and with those that are 0 at the
// ends: measured on images of zeros with a few ones, or with values that are no numbers, so far apart that a pixel sees
// one of them at most. Remembered for some hundred pairs of sizes; from any thread.
std::shared_ptr<const ResampleWeights> WeightsOfLibTorch(int64_t in, int64_t out, ResizeSpec::Filter filter);

// Whether ResamplePlane can be used here and takes its sums as LibTorch does, which has another order on processors
// without AVX2 and might have one in another version. Tried once in a process, on some thousand sums.
bool CanResampleAsLibTorch();

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_
