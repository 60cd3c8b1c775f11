// Separable resampling of bytes: what data/augment/resize.h does, eight pixels at a time.
#ifndef OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_
#define OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_

#include <cstdint>
#include <vector>

namespace openset {

// What makes `out` pixels of `in` along one axis: pixel i is the sum over t < count[i] of weight[i * taps + t] times
// pixel begin[i] + t. Precondition: count is 1 to taps, and these pixels are there.
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

// The sum of `count` products as ResamplePlane takes it, in f32 and in the order of t; as LibTorch 2.11's antialiased
// kernels take it where there is AVX2. The products after the first are rounded before they are added as long as four
// of them are left, and are added unrounded (fused) after these.
float ResampleSum(const float* values, const float* weights, int64_t count);

// u8 [columns.in, rows.in] -> u8 [columns.out, rows.out]: along each row by `rows`, then along each column by
// `columns`. Each sum is rounded to the nearest whole value within [0, 255], halves up, after the rows and again after
// the columns. An axis whose sizes are the same is left as it is. Precondition: CanResample().
void ResamplePlane(const uint8_t* plane, const ResampleWeights& rows, const ResampleWeights& columns, uint8_t* out);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_PIXELS_RESAMPLE_H_
