#include "data/augment/pixels/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace openset {
namespace {

// The number of products after the first, in a sum of `count`, that are rounded before they are added.
inline int64_t Rounded(int64_t count) { return (count - 1) / 4 * 4; }

}  // namespace

float ResampleSum(const float* values, const float* weights, int64_t count) {
  float sum = values[0] * weights[0];
  int64_t t = 1;
  for (; t <= Rounded(count); ++t) {
    const volatile float product = values[t] * weights[t];  // must not be fused
    sum += product;
  }
  for (; t < count; ++t) sum = std::fma(values[t], weights[t], sum);
  return sum;
}

#if defined(__x86_64__)

namespace {

#define OPENSET_AVX2 __attribute__((target("avx2,fma")))

constexpr int64_t kBlock = 8;

// Up to 8 bytes, then zeros.
OPENSET_AVX2 inline __m128i Load(const uint8_t* bytes, int64_t count) {
  if (count >= kBlock) return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
  uint64_t some = 0;
  std::memcpy(&some, bytes, count);
  return _mm_cvtsi64_si128(static_cast<int64_t>(some));
}

OPENSET_AVX2 inline void Store(__m128i eight, uint8_t* bytes, int64_t count) {
  if (count >= kBlock) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(bytes), eight);
    return;
  }
  const int64_t some = _mm_cvtsi128_si64(eight);
  std::memcpy(bytes, &some, count);
}

OPENSET_AVX2 inline __m256 ToFloat(__m128i eight_bytes) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight_bytes));
}

// sum + product, which the compiler must not fuse with the multiplication.
OPENSET_AVX2 inline __m256 AddRounded(__m256 sum, __m256 product) {
  asm("" : "+x"(product));
  return _mm256_add_ps(sum, product);
}

// The nearest bytes, halves up. Values below 0 are truncated towards 0 and become 0 anyway.
OPENSET_AVX2 inline __m128i ToBytes(__m256 values) {
  const __m256i whole = _mm256_cvttps_epi32(_mm256_add_ps(values, _mm256_set1_ps(0.5F)));
  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
  return _mm_packus_epi16(words, words);
}

// Eight rows of eight bytes become eight columns, two of them in each of `out`.
OPENSET_AVX2 inline void Transpose(const __m128i row[8], __m128i out[4]) {
  const __m128i a = _mm_unpacklo_epi8(row[0], row[4]), b = _mm_unpacklo_epi8(row[1], row[5]);
  const __m128i c = _mm_unpacklo_epi8(row[2], row[6]), d = _mm_unpacklo_epi8(row[3], row[7]);
  const __m128i ac = _mm_unpacklo_epi8(a, c), ac_high = _mm_unpackhi_epi8(a, c);
  const __m128i bd = _mm_unpacklo_epi8(b, d), bd_high = _mm_unpackhi_epi8(b, d);
  out[0] = _mm_unpacklo_epi8(ac, bd);
  out[1] = _mm_unpackhi_epi8(ac, bd);
  out[2] = _mm_unpacklo_epi8(ac_high, bd_high);
  out[3] = _mm_unpackhi_epi8(ac_high, bd_high);
}

// Eight rows of eight bytes as columns of f32: values[8 * column + row].
OPENSET_AVX2 inline void StoreColumns(const __m128i row[kBlock], float* values) {
  __m128i columns[4];
  Transpose(row, columns);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(values + kBlock * (2 * i), ToFloat(columns[i]));
    _mm256_storeu_ps(values + kBlock * (2 * i + 1), ToFloat(_mm_unpackhi_epi64(columns[i], columns[i])));
  }
}

// Eight rows of `width` bytes as columns of f32, and zeros up to a multiple of eight columns.
OPENSET_AVX2 void ToColumns(const uint8_t* const row[kBlock], int64_t width, float* values) {
  __m128i eight[kBlock];
  int64_t x = 0;
  for (; x + kBlock <= width; x += kBlock) {
#pragma GCC unroll 8
    for (int r = 0; r < kBlock; ++r) eight[r] = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row[r] + x));
    StoreColumns(eight, values + kBlock * x);
  }
  if (x == width) return;
  for (int r = 0; r < kBlock; ++r) eight[r] = Load(row[r] + x, width - x);
  StoreColumns(eight, values + kBlock * x);
}

// The weights of each sum, padded with zeros so that each sum ends with three fused products: the processor predicts a
// number of steps that is nearly always the same, and adding 0 changes no sum.
struct PaddedWeights {
  explicit PaddedWeights(const ResampleWeights& from) : rounded(from.out) {
    for (int64_t i = 0; i < from.out; ++i) rounded[i] = Rounded(from.count[i]);
    taps = 1 + *std::max_element(rounded.begin(), rounded.end()) + kFused;
    weight.resize(from.out * taps);
    for (int64_t i = 0; i < from.out; ++i) std::copy_n(&from.weight[i * from.taps], from.count[i], &weight[i * taps]);
  }

  static constexpr int64_t kFused = 3;
  std::vector<int64_t> rounded;  // [out]
  int64_t taps;
  std::vector<float> weight;  // [out, taps]
};

// u8 [height, rows.in] -> u8 [height, rows.out].
OPENSET_AVX2 void ResampleRows(const uint8_t* plane, int64_t height, const ResampleWeights& rows, uint8_t* out) {
  const PaddedWeights padded(rows);
  std::vector<float> values(kBlock * ((rows.in + kBlock - 1) / kBlock * kBlock + PaddedWeights::kFused));
  for (int64_t y = 0; y < height; y += kBlock) {
    const int64_t count = std::min(kBlock, height - y);
    const uint8_t* row[kBlock];
    for (int64_t r = 0; r < kBlock; ++r) row[r] = plane + (y + std::min(r, count - 1)) * rows.in;
    ToColumns(row, rows.in, values.data());
    for (int64_t x = 0; x < rows.out; x += kBlock) {
      const int64_t wide = std::min(kBlock, rows.out - x);
      __m128i column[kBlock], turned[4];
#pragma GCC unroll 8
      for (int64_t c = 0; c < kBlock; ++c) {
        const int64_t place = std::min(x + c, rows.out - 1);
        const float* weight = &padded.weight[place * padded.taps];
        const float* value = &values[kBlock * rows.begin[place]];
        __m256 sum = _mm256_mul_ps(_mm256_loadu_ps(value), _mm256_broadcast_ss(weight));
        for (int64_t t = padded.rounded[place]; t > 0; --t) {
          value += kBlock;
          sum = AddRounded(sum, _mm256_mul_ps(_mm256_loadu_ps(value), _mm256_broadcast_ss(++weight)));
        }
        for (int t = 1; t <= PaddedWeights::kFused; ++t) {
          sum = _mm256_fmadd_ps(_mm256_loadu_ps(value + kBlock * t), _mm256_broadcast_ss(weight + t), sum);
        }
        column[c] = ToBytes(sum);
      }
      Transpose(column, turned);
      for (int64_t r = 0; r < count; ++r) {
        const __m128i two = turned[r / 2];
        Store(r % 2 == 0 ? two : _mm_unpackhi_epi64(two, two), out + (y + r) * rows.out + x, wide);
      }
    }
  }
}

// u8 [columns.in, width] -> u8 [columns.out, width].
OPENSET_AVX2 void ResampleColumns(const uint8_t* plane, int64_t width, const ResampleWeights& columns, uint8_t* out) {
  for (int64_t y = 0; y < columns.out; ++y) {
    const float* weight = &columns.weight[y * columns.taps];
    const uint8_t* first = plane + columns.begin[y] * width;
    const int64_t taps = columns.count[y], rounded = Rounded(taps);
    for (int64_t x = 0; x < width; x += kBlock) {
      const int64_t count = std::min(kBlock, width - x);
      const uint8_t* at = first + x;
      __m256 sum = _mm256_mul_ps(ToFloat(Load(at, count)), _mm256_broadcast_ss(weight));
      int64_t t = 1;
      for (; t <= rounded; ++t) {
        at += width;
        sum = AddRounded(sum, _mm256_mul_ps(ToFloat(Load(at, count)), _mm256_broadcast_ss(weight + t)));
      }
      for (; t < taps; ++t) {
        at += width;
        sum = _mm256_fmadd_ps(ToFloat(Load(at, count)), _mm256_broadcast_ss(weight + t), sum);
      }
      Store(ToBytes(sum), out + y * width + x, count);
    }
  }
}

#undef OPENSET_AVX2

}  // namespace

bool CanResample() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

void ResamplePlane(const uint8_t* plane, const ResampleWeights& rows, const ResampleWeights& columns, uint8_t* out) {
  if (columns.in == columns.out) {
    if (rows.in == rows.out) {
      std::copy_n(plane, columns.in * rows.in, out);
    } else {
      ResampleRows(plane, columns.in, rows, out);
    }
    return;
  }
  if (rows.in == rows.out) return ResampleColumns(plane, rows.out, columns, out);
  std::vector<uint8_t> between(columns.in * rows.out);
  ResampleRows(plane, columns.in, rows, between.data());
  ResampleColumns(between.data(), rows.out, columns, out);
}

#else

bool CanResample() { return false; }
void ResamplePlane(const uint8_t* /*plane*/, const ResampleWeights& /*rows*/, const ResampleWeights& /*columns*/,
                   uint8_t* /*out*/) {}

#endif

}  // namespace openset
