#include "models/layers/norm_relu_passes.h"

#include <immintrin.h>

#include <algorithm>

namespace openset::norm_relu {
namespace {

#define OPENSET_AVX2 __attribute__((target("avx2,fma")))
#define OPENSET_AVX2_INLINE OPENSET_AVX2 inline __attribute__((always_inline))

constexpr int64_t kLanes = 8;

// Sums of up to this many vectors stay in registers while a pass goes over the rows of a tile.
constexpr int64_t kWidest = 4;

// Values of a tile. It stays in the L1 cache while a pass goes over it once for each part of the channels.
constexpr int64_t kTile = 2048;

// Calls pass(width, first row, rows, first channel) for all tiles, and in each for all parts of the channels. `width`,
// in vectors, is a constant to the compiler.
template <typename Pass>
OPENSET_AVX2_INLINE void ForTiles(const Rows& rows, const Pass& pass) {
  const int64_t size = std::max<int64_t>(1, kTile / rows.channels);
  for (int64_t row = 0; row < rows.count; row += size) {
    const int64_t count = std::min(size, rows.count - row);
    int64_t channel = 0;
    for (; channel + kWidest * kLanes <= rows.channels; channel += kWidest * kLanes) {
      pass.template Do<kWidest>(row, count, channel);
    }
    for (; channel + 2 * kLanes <= rows.channels; channel += 2 * kLanes) pass.template Do<2>(row, count, channel);
    for (; channel < rows.channels; channel += kLanes) pass.template Do<1>(row, count, channel);
  }
}

OPENSET_AVX2_INLINE __m256 Load(const float* from) { return _mm256_loadu_ps(from); }

OPENSET_AVX2_INLINE __m256 Load(const Bf16* from) {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

OPENSET_AVX2_INLINE void Store(float* to, __m256 value) { _mm256_storeu_ps(to, value); }

// Not by vcvtneps2bf16, which makes 0 of subnormal numbers and which not every CPU has.
OPENSET_AVX2_INLINE void Store(Bf16* to, __m256 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i is_odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i rounded =
      _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(is_odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  const __m256i halves = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0), is_nan);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(halves, halves), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
}

template <bool kLeaky>
OPENSET_AVX2_INLINE __m256 ReluOf(__m256 z, __m256 slope) {
  const __m256 zero = _mm256_setzero_ps();
  if (!kLeaky) return _mm256_max_ps(zero, z);  // z if it is NaN or -0
  return _mm256_blendv_ps(_mm256_mul_ps(z, slope), z, _mm256_cmp_ps(z, zero, _CMP_GT_OQ));
}

// The gradient before the ReLU, whose argument or value is z.
template <bool kLeaky>
OPENSET_AVX2_INLINE __m256 BeforeRelu(__m256 gradient, __m256 z, __m256 slope) {
  const __m256 zero = _mm256_setzero_ps();
  if (!kLeaky) return _mm256_andnot_ps(_mm256_cmp_ps(z, zero, _CMP_LE_OQ), gradient);
  return _mm256_blendv_ps(_mm256_mul_ps(gradient, slope), gradient, _mm256_cmp_ps(z, zero, _CMP_GT_OQ));
}

template <typename T>
struct AddRowsPass {
  const Rows& rows;
  const T* x;
  float* sum;

  template <int kWidth>
  OPENSET_AVX2_INLINE void Do(int64_t row, int64_t count, int64_t channel) const {
    __m256 sums[kWidth];
    for (int w = 0; w < kWidth; ++w) sums[w] = Load(sum + channel + w * kLanes);
    const T* from = x + row * rows.channels + channel;
    for (int64_t i = 0; i < count; ++i, from += rows.channels) {
      for (int w = 0; w < kWidth; ++w) sums[w] = _mm256_add_ps(Load(from + w * kLanes), sums[w]);
    }
    for (int w = 0; w < kWidth; ++w) _mm256_storeu_ps(sum + channel + w * kLanes, sums[w]);
  }
};

template <typename T>
struct AddSquaresPass {
  const Rows& rows;
  const T* x;
  const float* mean;
  float* sum;

  template <int kWidth>
  OPENSET_AVX2_INLINE void Do(int64_t row, int64_t count, int64_t channel) const {
    __m256 sums[kWidth], means[kWidth];
    for (int w = 0; w < kWidth; ++w) {
      sums[w] = Load(sum + channel + w * kLanes);
      means[w] = Load(mean + channel + w * kLanes);
    }
    const T* from = x + row * rows.channels + channel;
    for (int64_t i = 0; i < count; ++i, from += rows.channels) {
      for (int w = 0; w < kWidth; ++w) {
        const __m256 difference = _mm256_sub_ps(Load(from + w * kLanes), means[w]);
        sums[w] = _mm256_fmadd_ps(difference, difference, sums[w]);
      }
    }
    for (int w = 0; w < kWidth; ++w) _mm256_storeu_ps(sum + channel + w * kLanes, sums[w]);
  }
};

// With kHasValue, z is the ReLU's value, and g is stored.
template <typename T, bool kLeaky, bool kHasValue>
struct AddGradientsPass {
  const Rows& rows;
  const Map& map;
  const T* gradient;
  const T* value;
  const T* x;
  const float* mean;
  T* stored;
  float* sum;
  float* product;

  template <int kWidth>
  OPENSET_AVX2_INLINE void Do(int64_t row, int64_t count, int64_t channel) const {
    const __m256 slope = _mm256_set1_ps(map.negative_slope);
    __m256 sums[kWidth], products[kWidth];
    for (int w = 0; w < kWidth; ++w) {
      sums[w] = Load(sum + channel + w * kLanes);
      products[w] = Load(product + channel + w * kLanes);
    }
    int64_t at = row * rows.channels + channel;
    for (int64_t i = 0; i < count; ++i, at += rows.channels) {
      for (int w = 0; w < kWidth; ++w) {
        const int64_t place = at + w * kLanes;
        const int64_t c = channel + w * kLanes;
        const __m256 input = Load(x + place);
        const __m256 z =
            kHasValue ? Load(value + place) : _mm256_fmadd_ps(input, Load(map.scale + c), Load(map.offset + c));
        const __m256 g = BeforeRelu<kLeaky>(Load(gradient + place), z, slope);
        if (kHasValue) Store(stored + place, g);
        sums[w] = _mm256_add_ps(sums[w], g);
        products[w] = _mm256_fmadd_ps(_mm256_sub_ps(input, Load(mean + c)), g, products[w]);
      }
    }
    for (int w = 0; w < kWidth; ++w) {
      _mm256_storeu_ps(sum + channel + w * kLanes, sums[w]);
      _mm256_storeu_ps(product + channel + w * kLanes, products[w]);
    }
  }
};

template <typename T, bool kLeaky>
OPENSET_AVX2_INLINE void RectifyAll(const Rows& rows, const Map& map, const T* x, const T* shortcut, T* y) {
  const __m256 slope = _mm256_set1_ps(map.negative_slope);
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      __m256 z = _mm256_fmadd_ps(Load(x + place), Load(map.scale + c), Load(map.offset + c));
      if (shortcut != nullptr) z = _mm256_add_ps(z, Load(shortcut + place));
      Store(y + place, ReluOf<kLeaky>(z, slope));
    }
  }
}

OPENSET_AVX2_INLINE __m256 BeforeNorm(const NormGradient& norm, __m256 g, __m256 x, int64_t c) {
  const __m256 centred = _mm256_sub_ps(x, Load(norm.mean + c));
  const __m256 rest = _mm256_fnmadd_ps(centred, Load(norm.k + c), _mm256_sub_ps(g, Load(norm.mean_gradient + c)));
  return _mm256_mul_ps(_mm256_mul_ps(rest, Load(norm.inverse_std + c)), Load(norm.weight + c));
}

template <typename T, bool kLeaky>
OPENSET_AVX2_INLINE void DifferentiateAll(const Rows& rows, const Map& map, const NormGradient& norm, const T* gradient,
                                          const T* x, T* x_gradient) {
  const __m256 slope = _mm256_set1_ps(map.negative_slope);
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      const __m256 input = Load(x + place);
      const __m256 z = _mm256_fmadd_ps(input, Load(map.scale + c), Load(map.offset + c));
      const __m256 g = BeforeRelu<kLeaky>(Load(gradient + place), z, slope);
      Store(x_gradient + place, BeforeNorm(norm, g, input, c));
    }
  }
}

}  // namespace

template <typename T>
OPENSET_AVX2 void AddRows(const Rows& rows, const T* x, float* sum) {
  ForTiles(rows, AddRowsPass<T>{rows, x, sum});
}

template <typename T>
OPENSET_AVX2 void AddSquares(const Rows& rows, const T* x, const float* mean, float* sum) {
  ForTiles(rows, AddSquaresPass<T>{rows, x, mean, sum});
}

template <typename T>
OPENSET_AVX2 void Rectify(const Rows& rows, const Map& map, const T* x, const T* shortcut, T* y) {
  if (map.negative_slope == 0) {
    RectifyAll<T, false>(rows, map, x, shortcut, y);
  } else {
    RectifyAll<T, true>(rows, map, x, shortcut, y);
  }
}

template <typename T>
OPENSET_AVX2 void AddGradients(const Rows& rows, const Map& map, const T* gradient, const T* x, const float* mean,
                               float* sum, float* product) {
  if (map.negative_slope == 0) {
    ForTiles(rows, AddGradientsPass<T, false, false>{rows, map, gradient, nullptr, x, mean, nullptr, sum, product});
  } else {
    ForTiles(rows, AddGradientsPass<T, true, false>{rows, map, gradient, nullptr, x, mean, nullptr, sum, product});
  }
}

template <typename T>
OPENSET_AVX2 void AddGradientsByOutput(const Rows& rows, const Map& map, const T* gradient, const T* y, const T* x,
                                       const float* mean, T* g, float* sum, float* product) {
  if (map.negative_slope == 0) {
    ForTiles(rows, AddGradientsPass<T, false, true>{rows, map, gradient, y, x, mean, g, sum, product});
  } else {
    ForTiles(rows, AddGradientsPass<T, true, true>{rows, map, gradient, y, x, mean, g, sum, product});
  }
}

template <typename T>
OPENSET_AVX2 void Differentiate(const Rows& rows, const Map& map, const NormGradient& norm, const T* gradient,
                                const T* x, T* x_gradient) {
  if (map.negative_slope == 0) {
    DifferentiateAll<T, false>(rows, map, norm, gradient, x, x_gradient);
  } else {
    DifferentiateAll<T, true>(rows, map, norm, gradient, x, x_gradient);
  }
}

template <typename T>
OPENSET_AVX2 void DifferentiateStored(const Rows& rows, const NormGradient& norm, const T* g, const T* x,
                                      T* x_gradient) {
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      Store(x_gradient + place, BeforeNorm(norm, Load(g + place), Load(x + place), c));
    }
  }
}

#define OPENSET_INSTANTIATE(T)                                                                                         \
  template OPENSET_AVX2 void AddRows(const Rows&, const T*, float*);                                                   \
  template OPENSET_AVX2 void AddSquares(const Rows&, const T*, const float*, float*);                                  \
  template OPENSET_AVX2 void Rectify(const Rows&, const Map&, const T*, const T*, T*);                                 \
  template OPENSET_AVX2 void AddGradients(const Rows&, const Map&, const T*, const T*, const float*, float*, float*);  \
  template OPENSET_AVX2 void AddGradientsByOutput(const Rows&, const Map&, const T*, const T*, const T*, const float*, \
                                                  T*, float*, float*);                                                 \
  template OPENSET_AVX2 void Differentiate(const Rows&, const Map&, const NormGradient&, const T*, const T*, T*);      \
  template OPENSET_AVX2 void DifferentiateStored(const Rows&, const NormGradient&, const T*, const T*, T*);

OPENSET_INSTANTIATE(float)
OPENSET_INSTANTIATE(Bf16)

}  // namespace openset::norm_relu
