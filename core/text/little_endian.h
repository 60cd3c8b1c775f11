// Numbers in the bytes of files.
#ifndef OPENSET_CORE_TEXT_LITTLE_ENDIAN_H_
#define OPENSET_CORE_TEXT_LITTLE_ENDIAN_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace openset {

// The first 4 bytes, low byte first. Precondition: there are as many.
inline uint32_t LittleEndian32(absl::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace openset

#endif  // OPENSET_CORE_TEXT_LITTLE_ENDIAN_H_
