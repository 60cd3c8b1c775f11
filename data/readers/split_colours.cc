#include "data/readers/split_colours.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace openset {
namespace {

void SplitOneByOne(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  for (int64_t i = 0; i < count; ++i, pixels += 3) {
    red[i] = pixels[0];
    green[i] = pixels[1];
    blue[i] = pixels[2];
  }
}

#if defined(__x86_64__)

#define OPENSET_SSSE3 __attribute__((target("ssse3")))

constexpr int64_t kBlock = 16;  // pixels, of 48 bytes

// The shuffle that moves the bytes of a colour from third `part` of a block's 48 bytes to their positions among the 16
// bytes of the colour; an index of 0x80 gives 0.
OPENSET_SSSE3 inline __m128i Places(int colour, int part) {
  alignas(16) uint8_t place[kBlock];
  for (int i = 0; i < kBlock; ++i) {
    const int byte = 3 * i + colour - 16 * part;
    place[i] = byte >= 0 && byte < 16 ? static_cast<uint8_t>(byte) : 0x80;
  }
  return _mm_load_si128(reinterpret_cast<const __m128i*>(place));
}

// Splits all full blocks, and returns their number of pixels.
OPENSET_SSSE3 int64_t SplitBlocks(const uint8_t* pixels, int64_t count, uint8_t* const plane[3]) {
  __m128i places[3][3];
  for (int colour = 0; colour < 3; ++colour) {
    for (int part = 0; part < 3; ++part) places[colour][part] = Places(colour, part);
  }
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const auto* in = reinterpret_cast<const __m128i*>(pixels + 3 * i);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2);
    for (int colour = 0; colour < 3; ++colour) {
      const __m128i of_a = _mm_shuffle_epi8(a, places[colour][0]), of_b = _mm_shuffle_epi8(b, places[colour][1]);
      const __m128i all = _mm_or_si128(_mm_or_si128(of_a, of_b), _mm_shuffle_epi8(c, places[colour][2]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(plane[colour] + i), all);
    }
  }
  return i;
}

#undef OPENSET_SSSE3

#endif

}  // namespace

void SplitColours(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue) {
  int64_t done = 0;
#if defined(__x86_64__)
  uint8_t* const plane[3] = {red, green, blue};
  if (__builtin_cpu_supports("ssse3")) done = SplitBlocks(pixels, count, plane);
#endif
  SplitOneByOne(pixels + 3 * done, count - done, red + done, green + done, blue + done);
}

}  // namespace openset
