// Splits pixels of three bytes into three planes.
#ifndef OPENSET_DATA_READERS_SPLIT_COLOURS_H_
#define OPENSET_DATA_READERS_SPLIT_COLOURS_H_

#include <cstdint>

namespace openset {

// u8 [count, 3] -> three times u8 [count]. Converts sixteen pixels at a time if the processor has SSSE3.
void SplitColours(const uint8_t* pixels, int64_t count, uint8_t* red, uint8_t* green, uint8_t* blue);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_SPLIT_COLOURS_H_
