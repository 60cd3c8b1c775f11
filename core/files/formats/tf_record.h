// TensorFlow's record format, in which TensorBoard's event files are written.
#ifndef OPENSET_CORE_FILES_FORMATS_TF_RECORD_H_
#define OPENSET_CORE_FILES_FORMATS_TF_RECORD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace openset {

// CRC-32C (Castagnoli: polynomial 0x1EDC6F41, reflected; RFC 3720, appendix B.4).
uint32_t Crc32c(absl::string_view data);

// One record: its length (8 bytes), the masked CRC of the length, the data, the masked CRC of the data; numbers are
// little-endian. A masked CRC is the CRC rotated right by 15 bits plus 0xA282EAD8. A file is a sequence of records.
std::string TfRecord(absl::string_view data);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_TF_RECORD_H_
