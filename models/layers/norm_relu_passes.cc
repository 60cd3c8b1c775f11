#include "models/layers/norm_relu_passes.h"

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

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

struct AddRowsPass {
  const Rows& rows;
  const float* x;
  float* sum;

  template <int kWidth>
  OPENSET_AVX2_INLINE void Do(int64_t row, int64_t count, int64_t channel) const {
    __m256 sums[kWidth];
    for (int w = 0; w < kWidth; ++w) sums[w] = Load(sum + channel + w * kLanes);
    const float* from = x + row * rows.channels + channel;
    for (int64_t i = 0; i < count; ++i, from += rows.channels) {
      for (int w = 0; w < kWidth; ++w) sums[w] = _mm256_add_ps(Load(from + w * kLanes), sums[w]);
    }
    for (int w = 0; w < kWidth; ++w) _mm256_storeu_ps(sum + channel + w * kLanes, sums[w]);
  }
};

struct AddSquaresPass {
  const Rows& rows;
  const float* x;
  const float* mean;
  float* sum;

  template <int kWidth>
  OPENSET_AVX2_INLINE void Do(int64_t row, int64_t count, int64_t channel) const {
    __m256 sums[kWidth], means[kWidth];
    for (int w = 0; w < kWidth; ++w) {
      sums[w] = Load(sum + channel + w * kLanes);
      means[w] = Load(mean + channel + w * kLanes);
    }
    const float* from = x + row * rows.channels + channel;
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
template <bool kLeaky, bool kHasValue>
struct AddGradientsPass {
  const Rows& rows;
  const Map& map;
  const float* gradient;
  const float* value;
  const float* x;
  const float* mean;
  float* stored;
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
        if (kHasValue) _mm256_storeu_ps(stored + place, g);
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

template <bool kLeaky>
OPENSET_AVX2_INLINE void RectifyAll(const Rows& rows, const Map& map, const float* x, const float* shortcut, float* y) {
  const __m256 slope = _mm256_set1_ps(map.negative_slope);
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      __m256 z = _mm256_fmadd_ps(Load(x + place), Load(map.scale + c), Load(map.offset + c));
      if (shortcut != nullptr) z = _mm256_add_ps(z, Load(shortcut + place));
      _mm256_storeu_ps(y + place, ReluOf<kLeaky>(z, slope));
    }
  }
}

OPENSET_AVX2_INLINE __m256 BeforeNorm(const NormGradient& norm, __m256 g, __m256 x, int64_t c) {
  const __m256 centred = _mm256_sub_ps(x, Load(norm.mean + c));
  const __m256 rest = _mm256_fnmadd_ps(centred, Load(norm.k + c), _mm256_sub_ps(g, Load(norm.mean_gradient + c)));
  return _mm256_mul_ps(_mm256_mul_ps(rest, Load(norm.inverse_std + c)), Load(norm.weight + c));
}

template <bool kLeaky>
OPENSET_AVX2_INLINE void DifferentiateAll(const Rows& rows, const Map& map, const NormGradient& norm,
                                          const float* gradient, const float* x, float* x_gradient) {
  const __m256 slope = _mm256_set1_ps(map.negative_slope);
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      const __m256 input = Load(x + place);
      const __m256 z = _mm256_fmadd_ps(input, Load(map.scale + c), Load(map.offset + c));
      const __m256 g = BeforeRelu<kLeaky>(Load(gradient + place), z, slope);
      _mm256_storeu_ps(x_gradient + place, BeforeNorm(norm, g, input, c));
    }
  }
}

}  // namespace

OPENSET_AVX2 void AddRows(const Rows& rows, const float* x, float* sum) { ForTiles(rows, AddRowsPass{rows, x, sum}); }

OPENSET_AVX2 void AddSquares(const Rows& rows, const float* x, const float* mean, float* sum) {
  ForTiles(rows, AddSquaresPass{rows, x, mean, sum});
}

OPENSET_AVX2 void Rectify(const Rows& rows, const Map& map, const float* x, const float* shortcut, float* y) {
  if (map.negative_slope == 0) {
    RectifyAll<false>(rows, map, x, shortcut, y);
  } else {
    RectifyAll<true>(rows, map, x, shortcut, y);
  }
}

OPENSET_AVX2 void AddGradients(const Rows& rows, const Map& map, const float* gradient, const float* x,
                               const float* mean, float* sum, float* product) {
  if (map.negative_slope == 0) {
    ForTiles(rows, AddGradientsPass<false, false>{rows, map, gradient, nullptr, x, mean, nullptr, sum, product});
  } else {
    ForTiles(rows, AddGradientsPass<true, false>{rows, map, gradient, nullptr, x, mean, nullptr, sum, product});
  }
}

OPENSET_AVX2 void AddGradientsByOutput(const Rows& rows, const Map& map, const float* gradient, const float* y,
                                       const float* x, const float* mean, float* g, float* sum, float* product) {
  if (map.negative_slope == 0) {
    ForTiles(rows, AddGradientsPass<false, true>{rows, map, gradient, y, x, mean, g, sum, product});
  } else {
    ForTiles(rows, AddGradientsPass<true, true>{rows, map, gradient, y, x, mean, g, sum, product});
  }
}

OPENSET_AVX2 void Differentiate(const Rows& rows, const Map& map, const NormGradient& norm, const float* gradient,
                                const float* x, float* x_gradient) {
  if (map.negative_slope == 0) {
    DifferentiateAll<false>(rows, map, norm, gradient, x, x_gradient);
  } else {
    DifferentiateAll<true>(rows, map, norm, gradient, x, x_gradient);
  }
}

OPENSET_AVX2 void DifferentiateStored(const Rows& rows, const NormGradient& norm, const float* g, const float* x,
                                      float* x_gradient) {
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t c = 0; c < rows.channels; c += kLanes) {
      const int64_t place = row * rows.channels + c;
      _mm256_storeu_ps(x_gradient + place, BeforeNorm(norm, Load(g + place), Load(x + place), c));
    }
  }
}

}  // namespace openset::norm_relu
