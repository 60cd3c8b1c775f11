// Separable resampling of bytes for data/augment/resize.h, eight pixels at a time.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_
#define OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_

#include <cstdint>
#include <vector>

namespace openset {

// The weights that make `out` pixels from `in` along one axis: pixel i is the sum over t < count[i] of weight[i * taps
// + t] times pixel begin[i] + t. Precondition: count is 1 to taps, and these pixels exist.
struct ResampleWeights {
  int64_t in = 0;
  int64_t out = 0;
  int64_t taps = 0;
  std::vector<int64_t> begin;  // [out]
  std::vector<int64_t> count;  // [out]
  std::vector<float> weight;   // [out, taps]
};

// Whether this processor has the instructions that ResamplePlane needs (AVX2 and FMA).
bool CanResample();

// The sum of `count` products as ResamplePlane() computes it, in f32 and in the order of t, like the antialiased
// kernels of LibTorch 2.11 with AVX2. The products after the first are rounded before they are added as long as four of
// them are left; the remaining ones are added unrounded (fused).
float ResampleSum(const float* values, const float* weights, int64_t count);

// u8 [columns.in, rows.in] -> u8 [columns.out, rows.out]: along each row by `rows`, then along each column by
// `columns`. Each sum is rounded to the nearest whole value within [0, 255], halves up, after the rows and again after
// the columns. An axis with equal sizes is not changed. Precondition: CanResample().
void ResamplePlane(const uint8_t* plane, const ResampleWeights& rows, const ResampleWeights& columns, uint8_t* out);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_
