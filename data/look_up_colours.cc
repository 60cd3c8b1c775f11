#include "data/look_up_colours.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace openset {
namespace {

#if defined(__x86_64__)

#define OPENSET_AVX2 __attribute__((target("avx2")))

constexpr int64_t kBlock = 8;

OPENSET_AVX2 inline __m128i Load(const uint8_t* bytes) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
}

// The table's values for eight bytes, whose channels' rows begin at `row`.
OPENSET_AVX2 inline __m256 Values(const float* table, __m256i row, __m128i eight) {
  return _mm256_i32gather_ps(table, _mm256_add_epi32(row, _mm256_cvtepu8_epi32(eight)), sizeof(float));
}

// Converts all full blocks, and returns their number of pixels.
OPENSET_AVX2 int64_t LookUpBlocks(const uint8_t* planes, int64_t pixels, const float* table, float* values) {
  // The positions from which the 24 bytes r0 g0 b0 r1 ... b7 come, in r0 g0 r1 g1 ... g7 and in b0 ... b7.
  const __m128i low_of_two = _mm_setr_epi8(0, 1, -1, 2, 3, -1, 4, 5, -1, 6, 7, -1, 8, 9, -1, 10);
  const __m128i low_of_blue = _mm_setr_epi8(-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1);
  const __m128i high_of_two = _mm_setr_epi8(11, -1, 12, 13, -1, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m128i high_of_blue = _mm_setr_epi8(-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i first_rows = _mm256_setr_epi32(0, 256, 512, 0, 256, 512, 0, 256);
  const __m256i second_rows = _mm256_setr_epi32(512, 0, 256, 512, 0, 256, 512, 0);
  const __m256i third_rows = _mm256_setr_epi32(256, 512, 0, 256, 512, 0, 256, 512);
  int64_t p = 0;
  for (; p + kBlock <= pixels; p += kBlock, values += 3 * kBlock) {
    const __m128i two = _mm_unpacklo_epi8(Load(planes + p), Load(planes + pixels + p));
    const __m128i blue = Load(planes + 2 * pixels + p);
    const __m128i low = _mm_or_si128(_mm_shuffle_epi8(two, low_of_two), _mm_shuffle_epi8(blue, low_of_blue));
    const __m128i high = _mm_or_si128(_mm_shuffle_epi8(two, high_of_two), _mm_shuffle_epi8(blue, high_of_blue));
    _mm256_storeu_ps(values, Values(table, first_rows, low));
    _mm256_storeu_ps(values + kBlock, Values(table, second_rows, _mm_srli_si128(low, 8)));
    _mm256_storeu_ps(values + 2 * kBlock, Values(table, third_rows, high));
  }
  return p;
}

#undef OPENSET_AVX2

#endif

}  // namespace

void LookUpColours(const uint8_t* planes, int64_t pixels, const float* table, float* values) {
  int64_t p = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) p = LookUpBlocks(planes, pixels, table, values);
#endif
  for (; p < pixels; ++p) {
    for (int64_t c = 0; c < 3; ++c) values[3 * p + c] = table[256 * c + planes[c * pixels + p]];
  }
}

}  // namespace openset
