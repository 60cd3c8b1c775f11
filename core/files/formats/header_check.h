// Whether a large file can be of its format at all, by its length and its header or list of members: a checksum says
// more, and takes half a minute for 10 GB of anything.
#ifndef OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
#define OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace openset {

// Smaller files are taken as they are: their checksum takes milliseconds.
inline constexpr int64_t kHeaderCheckBytes = 1 << 20;

// A safetensors file: its length is what its header says (core/files/formats/safetensors.h), of one of a megabyte or
// more at least what the header itself takes. Errors, with the path: kDataLoss; those of OpenRegularFile()
// (core/files/input_file.h).
absl::Status CheckSafetensorsHeader(const std::string& path);

// A zip archive, as .npz files and what PyTorch saves are: the packed members, by its list, take its bytes but for at
// most a megabyte and 1,024 bytes for each member. Errors: the same.
absl::Status CheckZipMembers(const std::string& path);

// A file of weights or a network: one or the other, by its first bytes. Errors: the same.
absl::Status CheckWeightsHeader(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
