// The bytes of numbers in files.
#ifndef OPENSET_CORE_TESTING_BYTE_ORDER_H_
#define OPENSET_CORE_TESTING_BYTE_ORDER_H_

#include <cstdint>
#include <string>

namespace openset {

// Low byte first.
inline std::string LittleEndian(uint64_t value, int bytes = 4) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// High byte first.
inline std::string BigEndian(uint64_t value, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_BYTE_ORDER_H_
