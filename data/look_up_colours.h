// Converts the bytes of three planes to values of interleaved channels, by a table.
#ifndef OPENSET_DATA_LOOK_UP_COLOURS_H_
#define OPENSET_DATA_LOOK_UP_COLOURS_H_

#include <cstdint>

namespace openset {

// u8 [3, pixels] -> f32 [pixels, 3]: values[3 * p + c] = table[256 * c + planes[c * pixels + p]]. Converts eight pixels
// at a time if the processor has AVX2.
void LookUpColours(const uint8_t* planes, int64_t pixels, const float* table, float* values);

}  // namespace openset

#endif  // OPENSET_DATA_LOOK_UP_COLOURS_H_
