#include "core/files/formats/tf_record.h"

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

template <typename Number>
std::string LittleEndian(Number number) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Number); ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  return bytes;
}

std::string MaskedCrc(absl::string_view data) {
  const uint32_t crc = Crc32c(data);
  return LittleEndian<uint32_t>((crc >> 15 | crc << 17) + 0xA282EAD8u);
}

}  // namespace

uint32_t Crc32c(absl::string_view data) {
  constexpr uint32_t kReflected = 0x82F63B78;
  uint32_t crc = ~uint32_t{0};
  for (const char byte : data) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kReflected : 0);
  }
  return ~crc;
}

std::string TfRecord(absl::string_view data) {
  const std::string length = LittleEndian<uint64_t>(data.size());
  return absl::StrCat(length, MaskedCrc(length), data, MaskedCrc(data));
}

}  // namespace openset
