// The weights of LibTorch's antialiased resizing.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_
#define OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_

#include <cstdint>
#include <memory>

#include "core/tensor/torch.h"
#include "data/augment/augment.pb.h"
#include "data/augment/pixels/resample.h"

namespace openset {

// LibTorch's own resizing: f32 [B, C, H, W] -> f32 [B, C, height, width].
at::Tensor ResizeByLibTorch(const at::Tensor& images, int64_t height, int64_t width, ResizeSpec::Filter filter);

// The weights with which ResizeByLibTorch() makes `out` pixels from `in`, exact to the last bit, including zeros at the
// ends. They are measured on images of zeros with a few ones or NaNs, so far apart that a pixel sees at most one of
// them. Caches the weights of several hundred pairs of sizes. Thread-safe.
std::shared_ptr<const ResampleWeights> WeightsOfLibTorch(int64_t in, int64_t out, ResizeSpec::Filter filter);

// Whether ResamplePlane() can be used here and computes its sums like LibTorch, which uses another order on processors
// without AVX2 and may use another one in other versions. Tested once per process, on several thousand sums.
bool CanResampleAsLibTorch();

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_WEIGHTS_H_
